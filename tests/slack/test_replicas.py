"""Several replicas tell one story: who posts, who looks and who ends may be three processes that all live."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.slack.blocks import render
from bot.slack.delivery import trail as trail_module
from bot.store import Run
from tests.lab.postgres import Cluster
from tests.slack.delivering import Delivering, case_of, delivering, look, looks_of, told
from tests.slack.trails import end, kinds, opened, seen


@asynccontextmanager
async def two(
    cluster: Cluster, folder: Path, **first: Any
) -> AsyncIterator[tuple[Delivering, Delivering]]:
    url = cluster.database()
    async with (
        delivering(folder, url=url, executor="bot-0", **first) as one,
        delivering(folder, url=url, executor="bot-1", slack=one.slack, courier=False) as other,
    ):
        yield one, other


def test_who_looked_shows_nothing_more_once_another_replica_has_ended_the_trail(
    cluster: Cluster, tmp_path: Path
) -> None:
    async def story() -> None:
        async with two(cluster, tmp_path) as (one, looks):
            run, trail = await opened(one)
            looks.trails.began(run, 0)
            told(looks, run, [look(1)])
            await one.slack.until(lambda: "E1" in seen(trail))
            told(looks, run, [look(2, "ReadGpus")])  # within the second between two edits
            one.store.cases.save(run.id, case_of(looks_of(2)))
            key = end(one, run)
            looks.trails.ended(run)
            await one.sent(key)
            assert "2 looks" in seen(trail)
            await asyncio.sleep(1.5)  # longer than that second
            assert "stop" not in kinds(trail)

    asyncio.run(story())


def test_who_posted_a_trail_leaves_its_old_stream_to_who_looks(
    cluster: Cluster, tmp_path: Path
) -> None:
    async def story() -> None:
        async with two(cluster, tmp_path, stream_s=1.0) as (posted, looks):
            run, trail = await opened(posted)
            await posted.dies()  # its courier alone: it keeps the trail in mind
            looks.trails.began(run, 0)
            told(looks, run, looks_of(2))
            await posted.slack.until(lambda: "E2" in seen(trail))
            await ended_by(looks, run)
            assert "2 looks" in seen(trail)
            await asyncio.sleep(1.5)  # the stream of who posted is old by now
            assert "2 looks" in seen(trail)
            assert "stop" not in kinds(trail)

    asyncio.run(story())


def test_who_began_to_look_before_the_first_message_stood_can_end_the_trail(
    cluster: Cluster, tmp_path: Path
) -> None:
    async def story() -> None:
        async with two(cluster, tmp_path) as (posted, looks):
            run = posted.asked()
            looks.trails.began(run, 0)
            told(looks, run, looks_of(2))
            await asyncio.sleep(0.2)
            await posted.sent(posted.say(run, "trail", "Looking at CT129."))
            await posted.dies()
            looks.store.cases.save(run.id, case_of(looks_of(2)))
            await ended_by(looks, run)
            (trail,) = looks.replies(run)
            assert "2 looks" in seen(trail)
            assert "stop" not in kinds(trail)

    asyncio.run(story())


def test_who_looked_shows_no_work_after_another_replica_has_ended_it(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trail_module, "REFRESH_S", 0.1)

    async def story() -> None:
        async with two(cluster, tmp_path) as (one, looks):
            run, _ = await opened(one)
            began = one.store.runs.begin(run.id)
            assert began is not None
            looks.trails.began(began, 0)
            session = one.slack.state.session(run.channel, run.thread)
            await one.slack.until(lambda: session.status == "is looking at CT129")
            await one.sent(end(one, run))
            await one.slack.until(lambda: session.status == "")
            await asyncio.sleep(0.5)
            assert session.status == ""

    asyncio.run(story())


def test_a_letter_that_another_replica_has_holds_those_behind_it(
    cluster: Cluster, tmp_path: Path
) -> None:
    async def story() -> None:
        async with two(cluster, tmp_path, message_every_s=1.0) as (one, other):
            run = one.asked()
            keys = [one.say(run, f"answer-{n}", f"number {n}", kind="answer") for n in range(3)]
            await one.sent(keys[0])  # the others wait for the second between two messages
            assert other.store.letters.sending(keys[1])
            await asyncio.sleep(2.5)
            assert [message.text for message in one.replies(run)] == ["number 0"]
            other.store.letters.sent(keys[1], "1.1")
            await one.sent(*keys)

    asyncio.run(story())


def test_a_try_of_another_replica_that_may_have_arrived_is_looked_for_by_who_waited_meanwhile(
    cluster: Cluster, tmp_path: Path
) -> None:
    async def story() -> None:
        async with two(cluster, tmp_path, message_every_s=1.0) as (one, other):
            run = one.asked()
            keys = [one.say(run, f"answer-{n}", f"number {n}", kind="answer") for n in range(2)]
            await one.sent(keys[0])  # the other one is known to be due, and waits
            assert other.store.letters.sending(keys[1])
            letter = other.store.letters.get(keys[1])
            assert letter is not None
            shown = render(letter, {})
            said = {"thread_ts": run.thread, "text": shown.text, "blocks": shown.blocks}
            await other.wire.call("chat.postMessage", channel=run.channel, **said)
            other.store.letters.later(keys[1], other.store.now(), uncertain=True)
            await one.sent(*keys)
            assert [message.text for message in one.replies(run)] == ["number 0", "number 1"]

    asyncio.run(story())


async def ended_by(replica: Delivering, run: Run) -> None:
    """Let this one bring the trail to its end."""
    key = end(replica, run)
    letter = replica.store.letters.get(key)
    assert letter is not None

    async def claim() -> bool:
        return await asyncio.to_thread(replica.store.letters.sending, key)

    assert await replica.trails.finish(letter, claim) == ""
