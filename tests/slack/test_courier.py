"""Letters reach their threads: in order, once, and whatever Slack does meanwhile."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bot.letter import Letter
from tests.fakes import rendered
from tests.slack.delivering import GPU, SAM, delivering


def test_a_letter_is_posted_in_its_thread_once(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            run = lab.asked()
            key = lab.say(run)
            await lab.sent(key)
            await asyncio.sleep(0.5)  # two polls more
            (said,) = lab.replies(run)
            assert lab.store.letters.ts_of(key) == said.ts
            assert said.blocks[0]["block_id"] == f"psl:{key}"
            assert rendered(said).mentions == []

    asyncio.run(story())


def test_letters_of_a_thread_keep_their_order_when_slack_says_not_so_fast(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            lab.slack.faults.every(2, "ratelimited", methods=("chat.postMessage",), seconds=0.2)
            runs = [lab.asked(), lab.asked()]
            keys = [
                lab.say(run, f"answer-{n}", f"number {n}", kind="answer")
                for n in range(3)
                for run in runs
            ]
            await lab.sent(*keys)
            for run in runs:
                texts = [message.text for message in lab.replies(run)]
                assert texts == [f"number {n}" for n in range(3)]

    asyncio.run(story())


@pytest.mark.parametrize("how", ["drop_before", "drop_after", "hang", "error", "status"])
def test_a_lost_answer_is_looked_for_before_it_is_said_again(tmp_path: Path, how: Any) -> None:
    async def story() -> None:
        async with delivering(tmp_path, timeout_s=0.6) as lab:
            lab.slack.faults.next("chat.postMessage", how, seconds=2.0)
            run = lab.asked()
            key = lab.say(run)
            await lab.sent(key)
            (said,) = lab.replies(run)
            assert lab.store.letters.ts_of(key) == said.ts
            assert lab.slack.calls("conversations.replies")

    asyncio.run(story())


def test_a_letter_that_a_dead_process_was_sending_is_looked_for_first(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path, courier=False) as lab:
            run, other = lab.asked(), lab.asked()
            keys = lab.say(run), lab.say(other)
            for key in keys:
                assert lab.store.letters.sending(key)
            block = {"type": "section", "text": {"type": "mrkdwn", "text": "It is the link."}}
            arrived = await lab.wire.call(
                "chat.postMessage",
                channel=run.channel,
                thread_ts=run.thread,
                text="It is the link.",
                blocks=[{**block, "block_id": f"psl:{keys[0]}"}],
            )
            async with delivering(tmp_path, slack=lab.slack) as second:
                await second.sent(*keys)
                assert second.store.letters.ts_of(keys[0]) == arrived["ts"]
                assert len(second.replies(run)) == 1
                assert len(second.replies(other)) == 1

    asyncio.run(story())


def test_an_outage_loses_nothing_and_mixes_nothing_up(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            lab.slack.faults.outage(2.0)
            runs = [lab.asked() for _ in range(5)]
            keys = [
                lab.say(run, f"answer-{n}", f"number {n}", kind="answer")
                for run in runs
                for n in range(4)
            ]
            await lab.sent(*keys)
            refused = [call for call in lab.slack.calls() if not call.ok]
            assert len(refused) < 30  # one at a time tried, not twenty
            for run in runs:
                assert [m.text for m in lab.replies(run)] == [f"number {n}" for n in range(4)]

    asyncio.run(story())


def test_nobody_posts_twice_a_second_into_a_channel(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path, message_every_s=0.8) as lab:
            lab.slack.world.channels["C0GENERAL1"].members.add("U0PERFSLTH")
            keys = [lab.say(lab.asked(channel=name)) for name in ["gpu"] * 4 + ["general"]]
            await lab.sent(*keys)
            posts = lab.slack.calls("chat.postMessage")
            in_gpu = [call.at for call in posts if call.args["channel"] == GPU]
            assert all(b - a > 0.4 for a, b in pairwise(in_gpu))
            other = next(call.at for call in posts if call.args["channel"] != GPU)
            assert other < in_gpu[2]

    asyncio.run(story())


def test_what_is_for_one_alone_is_seen_by_one_alone(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            run = lab.asked()
            await lab.sent(lab.say(run, "word", "You may not.", only_for=SAM))
            assert lab.replies(run) == []
            assert [m.text for m in lab.slack.ephemeral("gpu", "sam")] == ["You may not."]

    asyncio.run(story())


def test_evidence_in_a_verdict_links_to_the_trail_of_its_run(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            run = lab.asked()
            await lab.sent(lab.say(run, "trail", "Looking at CT129."), lab.say(run))
            trail, verdict = lab.replies(run)
            (link,) = rendered(verdict).links
            assert trail.ts.replace(".", "") in link

    asyncio.run(story())


def test_a_fault_of_ours_costs_one_letter_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from bot.slack.delivery import postman

    whole = postman.__dict__["render"]

    def broken(letter: Letter, links: dict[str, str]) -> object:
        if letter.key == "run:1:verdict":
            raise KeyError("xoxb-secret")
        return whole(letter, links)

    monkeypatch.setattr(postman, "render", broken)

    async def story() -> None:
        async with delivering(tmp_path) as lab:
            run = lab.asked()
            bad, good = lab.say(run), lab.say(run, "answer")
            await lab.sent(good, f"fault:{bad}")
            assert lab.store.letters.status_of(bad) == "dead"
            assert any("(KeyError)" in message.text for message in lab.replies(run))

    asyncio.run(story())
    assert "secret" not in caplog.text


def test_what_waits_is_flushed_at_the_end(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            keys = [lab.say(lab.asked()) for _ in range(5)]
            assert await lab.courier.flush(60.0)
            assert {lab.store.letters.status_of(key) for key in keys} == {"sent"}
            lab.slack.faults.outage(5.0)
            lab.say(lab.asked())
            assert not await lab.courier.flush(0.3)

    asyncio.run(story())
