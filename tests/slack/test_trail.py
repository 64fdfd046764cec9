"""One live message tells an investigation, as a stream or by edits, to its end, over restarts."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from bot.message import Message
from bot.slack.delivery import trail as trail_module
from bot.store import Run
from tests.fakes import TEAM, Call
from tests.slack.delivering import SAM, delivering, look, looks_of, told
from tests.slack.trails import end, kinds, opened, seen


def test_a_trail_is_a_stream_that_grows_and_ends_without_stop(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            run, trail = await opened(lab)
            assert trail.stream is not None
            assert trail.stream.mode == "plan"
            assert trail.shown_blocks()[0]["block_id"] == f"psl:run:{run.id}:trail"
            assert "stop" in kinds(trail)
            lab.trails.began(run, 0)
            told(lab, run, looks_of(3))
            await lab.slack.until(lambda: seen(trail).count("E3") == 1)
            session = lab.slack.state.session(run.channel, run.thread)
            assert session.state == "processing"
            assert session.status == "is looking at CT129"
            (start,) = lab.slack.calls("chat.startStream")
            signs = lab.slack.calls("assistant.threads.setStatus")
            assert signs[-1].at > start.at  # a message of ours clears the line
            await lab.sent(end(lab, run))
            assert trail.stream is None
            assert "stop" not in kinds(trail)
            assert "3 looks" in seen(trail)
            await lab.slack.until(lambda: session.status == "" and session.state == "active")
            assert len(lab.replies(run)) == 1
            await lab.slack.until(lambda: all(call.answer for call in lab.slack.calls()))
            assert not [call.error for call in lab.slack.calls() if not call.ok]

    asyncio.run(story())


@pytest.mark.parametrize("team", ["", "T0ELSEWHERE"])
def test_a_stream_names_the_workspace_of_who_asked(tmp_path: Path, team: str) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            asked = Message(team=team, channel="C0GPU00001", ts="1.1", thread="1.1", user=SAM)
            await opened(lab, message=asked.model_dump_json())
            (start,) = lab.slack.calls("chat.startStream")
            assert start.args["recipient_team_id"] == (team or TEAM)
            assert start.args["recipient_user_id"] == SAM

    asyncio.run(story())


@pytest.mark.parametrize("error", ["unknown_method", "feature_not_enabled", "missing_scope"])
def test_without_streams_it_is_posted_and_edited_and_streams_are_not_asked_for_again(
    tmp_path: Path, error: str
) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            lab.slack.without("chat.startStream", error=error)
            run, trail = await opened(lab)
            lab.trails.began(run, 0)
            told(lab, run, looks_of(3))
            await lab.slack.until(lambda: "E3" in seen(trail))
            await opened(lab)
            assert len(lab.slack.calls("chat.startStream")) == 1
            await lab.sent(end(lab, run))
            assert "stop" not in kinds(trail)

    asyncio.run(story())


def test_a_stream_that_may_not_be_begun_now_is_not_waited_for(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            lab.slack.faults.next("chat.startStream", "ratelimited", seconds=600)
            for _ in range(2):
                _, trail = await opened(lab)
                assert trail.stream is None
                assert "stop" in kinds(trail)
            assert len(lab.slack.calls("chat.startStream")) == 1

    asyncio.run(story())


def test_a_stream_is_left_before_it_expires_and_the_same_message_goes_on(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path, stream_s=0.5) as lab:
            run, trail = await opened(lab)
            lab.trails.began(run, 0)
            told(lab, run, [look(1)])
            await lab.slack.until(lambda: trail.stream is None)  # though nothing happened
            session = lab.slack.state.session(run.channel, run.thread)
            assert session.state == "processing"
            told(lab, run, [look(2, "ReadGpus")])
            await lab.slack.until(lambda: "E1" in seen(trail) and "E2" in seen(trail))
            assert "stop" in kinds(trail)
            assert len(lab.replies(run)) == 1

    asyncio.run(story())


def test_a_stream_that_slack_ended_loses_nothing(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            run, trail = await opened(lab)
            lab.trails.began(run, 0)
            told(lab, run, [look(1)])
            await lab.slack.until(lambda: "E1" in seen(trail))
            assert trail.stream is not None
            trail.stream.ends_at = 0.0
            told(lab, run, [look(2, "ReadGpus")])
            await lab.slack.until(lambda: "E2" in seen(trail))
            assert "E1" in seen(trail)
            await lab.sent(end(lab, run))
            assert len(lab.replies(run)) == 1

    asyncio.run(story())


@pytest.mark.parametrize("how", ["drop_before", "drop_after", "status"])
def test_what_a_lost_answer_leaves_open_is_said_by_an_edit(tmp_path: Path, how: Any) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            run, trail = await opened(lab)
            lab.slack.faults.next("chat.appendStream", how)
            lab.slack.faults.next("chat.update", how)
            told(lab, run, looks_of(2))
            await lab.slack.until(lambda: trail.stream is None and "E2" in seen(trail))
            assert seen(trail).count("E2") == 1

    asyncio.run(story())


def test_edits_come_together_and_the_newest_state_is_the_last_one(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            lab.slack.without("chat.startStream")
            run, trail = await opened(lab)
            lab.slack.faults.every(2, "ratelimited", methods=("chat.update",))
            for number in range(1, 41):
                told(lab, run, [look(number)])
                await asyncio.sleep(0.02)
            await lab.slack.until(lambda: "E40" in seen(trail))
            assert len(lab.slack.calls("chat.update")) < 20

    asyncio.run(story())


def test_what_happened_before_the_first_message_is_in_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            run = lab.asked()
            lab.trails.began(run, 0)
            told(lab, run, looks_of(2))
            await asyncio.sleep(0.1)
            trail_key = lab.say(run, "trail", "Looking at CT129.")
            await lab.sent(trail_key, lab.say(run), end(lab, run))
            trail, verdict = lab.replies(run)
            assert "E2" in seen(trail)
            assert "stop" not in kinds(trail)
            assert "It is the link" in verdict.text

    asyncio.run(story())


def test_a_stopped_run_says_so(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            run, trail = await opened(lab)
            told(lab, run, looks_of(1))
            await lab.sent(end(lab, run, "stopped"))
            assert "Stopped." in seen(trail)

    asyncio.run(story())


def test_who_joined_has_a_message_that_stays_as_it_is(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            first, _ = await opened(lab)
            run, trail = await opened(lab, state="joined", joins=first.id)
            assert trail.stream is None
            assert "stop" not in kinds(trail)
            await lab.sent(end(lab, run))
            assert not [c for c in lab.slack.calls("chat.update") if c.args["ts"] == trail.ts]

    asyncio.run(story())


def test_signs_that_a_workspace_has_not_got_are_not_asked_for_again(tmp_path: Path) -> None:
    async def story() -> None:
        async with delivering(tmp_path) as lab:
            signs = ("assistant.threads.setStatus", "agents.sessions.setStatus")
            lab.slack.without(*signs)
            for _ in range(3):
                run, _trail = await opened(lab)
                await lab.sent(end(lab, run))
            assert all(len(lab.slack.calls(sign)) == 1 for sign in signs)

    asyncio.run(story())


def test_the_sign_of_work_is_shown_again_before_it_vanishes_and_not_after_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert trail_module.REFRESH_S < 120, "Slack takes the line away after two minutes"
    monkeypatch.setattr(trail_module, "REFRESH_S", 0.05)

    async def story() -> None:
        async with delivering(tmp_path) as lab:
            run, _ = await opened(lab)
            began = lab.store.runs.begin(run.id)
            assert began is not None
            lab.trails.began(began, 0)

            def signs() -> list[Call]:
                return lab.slack.calls("assistant.threads.setStatus")

            first = len(signs())
            await lab.slack.until(lambda: len(signs()) > first + 3)
            assert signs()[-1].args["status"] == "is looking at CT129"
            await lab.sent(end(lab, run))
            await lab.slack.until(lambda: signs()[-1].args["status"] == "")
            last = len(signs())
            await asyncio.sleep(0.3)
            assert len(signs()) == last

    asyncio.run(story())


def test_a_look_at_the_run_that_comes_back_after_the_end_shows_no_sign_of_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trail_module, "REFRESH_S", 0.05)
    read, ended = threading.Event(), threading.Event()

    async def story() -> None:
        async with delivering(tmp_path) as lab:
            run, _ = await opened(lab)
            began = lab.store.runs.begin(run.id)
            assert began is not None
            lab.trails.began(began, 0)
            get = lab.store.runs.get

            def late(number: int) -> Run | None:
                found, first = get(number), not read.is_set()
                read.set()
                if first:
                    ended.wait(60)
                return found

            monkeypatch.setattr(lab.store.runs, "get", late)
            await lab.slack.until(read.is_set)
            await lab.sent(end(lab, run))
            session = lab.slack.state.session(run.channel, run.thread)
            await lab.slack.until(lambda: session.status == "")
            ended.set()
            await asyncio.sleep(0.3)
            assert session.status == ""

    asyncio.run(story())


def test_a_trail_that_somebody_deleted_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trail_module, "REFRESH_S", 0.05)

    async def story() -> None:
        async with delivering(tmp_path) as lab:
            lab.slack.without("chat.startStream")
            run, trail = await opened(lab)
            began = lab.store.runs.begin(run.id)
            assert began is not None
            lab.trails.began(began, 0)
            trail.deleted = True
            ended = end(lab, run)
            await lab.slack.until(lambda: lab.store.letters.status_of(ended) == "dead")
            await lab.slack.until(
                lambda: lab.slack.state.session(run.channel, run.thread).status == ""
            )
            signs = len(lab.slack.calls("assistant.threads.setStatus"))
            await asyncio.sleep(0.3)
            assert len(lab.slack.calls("assistant.threads.setStatus")) == signs

    asyncio.run(story())


def test_twenty_runs_at_once_are_seen_to_begin_and_wait_for_no_stream(tmp_path: Path) -> None:
    """Slack allows twenty streams a minute, and every tenth call is answered by 429."""

    async def story() -> None:
        paces: dict[str, Any] = {"message_every_s": 1.0, "tiers": {**_REAL, **_QUICK}}
        async with delivering(tmp_path, rates=True, per_minute=_QUICK, **paces) as lab:
            names = [lab.slack.world.add_channel(f"team{n}").id for n in range(20)]
            lab.slack.faults.every(10, "ratelimited")
            runs = [lab.asked(channel=name) for name in names]
            for run in runs:
                lab.say(run, "trail", "Looking at CT129.")
            await lab.slack.until(lambda: all(lab.replies(run) for run in runs))
            streams = [lab.replies(run)[0].stream for run in runs]
            assert any(streams)
            assert not all(streams), "the last of them waited until streams were to be had again"
            for run in runs:
                told(lab, run, looks_of(5))
            await lab.sent(*(end(lab, run) for run in runs))
            assert all("5 looks" in seen(*lab.replies(run)) for run in runs)

    asyncio.run(story())


_QUICK = {"chat.stopStream": 600, "chat.update": 600}  # so that the ends take no minute
_REAL = {"chat.startStream": 20, "chat.stopStream": 20, "chat.update": 50, "chat.appendStream": 100}
