"""The first thing that a person sees comes first: before signs, other work, and what was throttled elsewhere."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from bot.slack.reception.intake import Intake
from tests.fakes import Workspace
from tests.fakes.reception import Reception, play
from tests.slack.delivering import delivering
from tests.slack.trails import opened

_FIRST = ("chat.startStream", "chat.postMessage")
_SIGNS = ("assistant.threads.setStatus", "agents.sessions.setStatus")


def test_that_we_are_at_work_is_shown_after_the_first_message(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            await opened(lab)
            await lab.slack.until(lambda: all(lab.slack.calls(sign) for sign in _SIGNS))
            methods = [call.method for call in lab.slack.calls()]
            assert min(map(methods.index, _SIGNS)) > methods.index("chat.startStream")

    asyncio.run(story())


def test_while_the_first_message_has_to_wait_the_line_under_the_thread_says_what_we_do(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            for method in _FIRST:
                lab.slack.faults.next(method, "ratelimited", seconds=1.0)
            await opened(lab)
            calls = lab.slack.calls()
            first = next(n for n, call in enumerate(calls) if call.ok and call.method in _FIRST)
            assert any(call.method == _SIGNS[0] for call in calls[:first])

    asyncio.run(story())


def test_where_slack_puts_off_the_post_a_stream_is_begun_at_once(tmp_path: Path) -> None:
    async def story() -> None:
        tiers: dict[str, Any] = {"chat.startStream": 8}  # so four at once, of which three are spare
        async with delivering(tmp_path, tiers=tiers) as lab:
            await opened(lab)
            lab.slack.faults.next("chat.postMessage", "ratelimited", seconds=600)
            other = lab.slack.world.add_channel("other").id
            _, trail = await opened(lab, channel=other)
            assert trail.stream is not None
            assert [call.status for call in lab.slack.calls("chat.postMessage")] == [429]

    asyncio.run(story())


def test_what_slack_sent_back_goes_before_what_came_meanwhile(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            lab.slack.faults.next("chat.postMessage", "ratelimited", seconds=1.0)
            first, second = lab.asked(), lab.asked()
            sent_back = lab.say(first)
            await lab.slack.until(
                lambda: [call for call in lab.slack.calls("chat.postMessage") if call.status == 429]
            )
            meanwhile = [lab.say(second, f"word-{n}", f"{n}", kind="word") for n in range(3)]
            await lab.sent(sent_back, *meanwhile)
            posts = [call for call in lab.slack.calls("chat.postMessage") if call.ok]
            assert posts[0].args["thread_ts"] == first.thread
            assert len(posts) == 4

    asyncio.run(story())


def test_slack_is_asked_who_speaks_while_their_message_is_still_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        keep_all, asked = Intake._keep_all, []

        def slowly(intake: Intake, batch: Any) -> list[bool]:
            ends_at = time.monotonic() + 30
            while not slack.calls("users.info") and time.monotonic() < ends_at:
                time.sleep(0.01)
            asked.append(len(slack.calls("users.info")))
            return keep_all(intake, batch)

        monkeypatch.setattr(Intake, "_keep_all", slowly)
        slack.mention("why is CT129 slow?")
        await slack.until(lambda: bot.desk.heard)
        assert asked[0] == 1
        assert len(slack.calls("users.info")) == 1, "it was asked once"

    play(tmp_path, scene)
