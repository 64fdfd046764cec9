"""What comes in is written down before its ack, each thing once, and only what concerns us."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from bot.slack.api.us import Us
from bot.slack.reception import order
from bot.slack.reception.payload import recognise
from bot.store import StoreError
from tests.fakes import BOT_USER, TEAM, Workspace
from tests.fakes.reception import Reception, play

US = Us(team=TEAM, user=BOT_USER, bot="B0PERFSLTH")


def test_a_mention_told_by_two_events_is_heard_once(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        asked = slack.mention("why is CT129 slow?")
        await slack.until(lambda: all(d.acked for d in slack.record.deliveries))
        await slack.until(lambda: bot.desk.heard)
        assert len(slack.record.events("app_mention")) == len(slack.record.events("message")) == 1
        assert bot.desk.texts() == ["why is CT129 slow?"]
        message, incoming = bot.desk.heard[0]
        assert (message.ts, message.thread, message.addressed) == (asked.ts, asked.ts, True)
        assert incoming == f"msg:{message.key}"
        await slack.until(lambda: not bot.store.inbox.unhandled())

    play(tmp_path, scene)


def test_the_same_event_again_is_acknowledged_and_goes_no_further(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.mention("why is CT129 slow?")
        await slack.until(lambda: bot.desk.heard)
        first = slack.record.events("app_mention")[0]
        again = slack.again(first)
        await slack.until(lambda: again.acked)
        assert len(bot.desk.heard) == 1

    play(tmp_path, scene)


def test_it_is_in_the_store_before_slack_has_the_ack(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        kept: list[str] = []
        receive = bot.store.inbox.receive

        def slowly(id: str, kind: str, body: dict[str, Any]) -> bool:
            time.sleep(0.3)
            kept.append(id)
            return receive(id, kind, body)

        bot.store.inbox.receive = slowly  # type: ignore[method-assign]
        slack.mention("why is CT129 slow?")
        delivery = slack.record.events("app_mention")[0]
        await slack.until(lambda: delivery.acked)
        assert kept
        assert delivery.ack_ms
        assert delivery.ack_ms >= 290

    play(tmp_path, scene)


def test_a_desk_that_takes_long_holds_no_ack(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        over = threading.Event()
        bot.desk.hear = lambda message, incoming: over.wait(90)  # type: ignore[assignment, method-assign]
        for number in range(20):
            slack.mention(f"why is CT129 slow? {number}")
        await slack.until(lambda: all(d.acked for d in slack.record.deliveries))
        over.set()
        assert all(len(d.tries) == 1 for d in slack.record.deliveries)

    play(tmp_path, scene, rates=False, ack_s=60.0)


def test_a_database_that_does_not_answer_is_told_once_and_slack_sends_it_again(
    tmp_path: Path,
) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        receive, failures = bot.store.inbox.receive, [0]

        def failing(id: str, kind: str, body: dict[str, Any]) -> bool:
            failures[0] += 1
            if failures[0] <= 3:
                raise StoreError("The disk is full: postgresql://u:secret@h")
            return receive(id, kind, body)

        bot.store.inbox.receive = failing  # type: ignore[method-assign]
        asked = slack.mention("why is CT129 slow?")
        await slack.until(lambda: bot.desk.heard)
        await slack.until(lambda: all(d.acked for d in slack.record.deliveries))
        assert bot.desk.texts() == ["why is CT129 slow?"]
        seen = await slack.until(lambda: slack.ephemeral("gpu", "sam"))
        assert 1 <= len(seen) <= 2  # one for each of its two events, at most
        assert "Nothing is lost" in seen[0].text
        assert "secret" not in json.dumps([message.wire() for message in seen])
        assert seen[0].thread_ts == asked.ts

    play(tmp_path, scene, ack_s=0.5, retry_after_s=(0.0, *[0.2] * 20))


def test_bots_edits_deletions_and_joins_are_acknowledged_and_forgotten(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.say_as_bot("gpu", f"<@{BOT_USER}> why is CT129 slow?")
        for subtype in ("channel_join", "message_changed", "message_deleted", "bot_message"):
            slack.send_event(
                {
                    "type": "message",
                    "subtype": subtype,
                    "channel": "C0GPU00001",
                    "user": "U0SAM00001",
                    "text": f"<@{BOT_USER}> hi",
                    "ts": "1700000000.000100",
                }
            )
        slack.send_event(
            {"type": "message", "channel": "C0GPU00001", "user": BOT_USER, "text": "x", "ts": "1.2"}
        )
        slack.send_event({"type": "reaction_added", "user": "U0SAM00001"})
        await slack.until(lambda: all(d.acked for d in slack.record.deliveries))
        assert not bot.desk.heard
        assert not bot.store.inbox.unhandled()

    play(tmp_path, scene)


def test_talk_that_is_not_for_us_is_not_written_down(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        said = slack.say("gpu", "sam", "lunch?")
        slack.say("gpu", "ana", "yes", thread_ts=said.ts)
        await slack.until(lambda: all(d.acked for d in slack.record.deliveries))
        assert bot.store.inbox.receive(f"msg:{said.channel}/{said.ts}", "message", {})
        assert not bot.desk.heard
        assert not bot.store.heard.all()

    play(tmp_path, scene)


def test_a_reply_in_a_thread_of_ours_is_heard_without_a_mention(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        asked = slack.mention("why is CT129 slow?")
        await slack.until(lambda: bot.desk.heard)
        slack.say("gpu", "ana", "why not NCCL? <@U0SAM00001>", thread_ts=asked.ts)
        await slack.until(lambda: len(bot.desk.heard) == 2)
        message, _ = bot.desk.heard[1]
        assert (message.addressed, message.others, message.thread) == (False, True, asked.ts)

    play(tmp_path, scene)


def test_a_reply_that_overtakes_its_question_is_heard_after_it(tmp_path: Path) -> None:
    """Slack is asked who speaks before a question is taken up; people write on meanwhile."""

    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.faults.next("users.info", "hang", seconds=1.0)
        asked = slack.mention("why is CT129 slow?")
        await slack.until(lambda: bot.store.inbox.unhandled())
        slack.say("gpu", "sam", "it does 55 tok/s, it was 70", thread_ts=asked.ts)
        slack.say("gpu", "ana", "lunch?", thread_ts=slack.say("gpu", "sam", "hello").ts)
        await slack.until(lambda: len(bot.desk.heard) == 2)
        await slack.until(lambda: all(d.acked for d in slack.record.deliveries))
        await slack.until(lambda: not bot.store.inbox.unhandled())
        assert bot.desk.texts() == ["why is CT129 slow?", "it does 55 tok/s, it was 70"]

    play(tmp_path, scene)


def test_a_stop_that_overtakes_its_question_ends_it(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.faults.next("users.info", "hang", seconds=1.0)
        asked = slack.mention("why is CT129 slow?")
        await slack.until(lambda: bot.store.inbox.unhandled())
        event = {"type": "agent_session_stopped", "user": "U0ANA00001", "channel": asked.channel}
        slack.send_event({**event, "thread_ts": asked.ts})
        await slack.until(lambda: bot.desk.stopped)
        assert bot.desk.texts() == ["why is CT129 slow?"], "there was something to stop"
        assert bot.desk.stopped == [(asked.channel, asked.ts, "U0ANA00001")]

    play(tmp_path, scene)


def test_a_question_that_is_never_taken_up_holds_nobody_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order, "GIVEN_UP_S", 0.0)

    async def scene(slack: Workspace, bot: Reception) -> None:
        bot.desk.fault, bot.desk.faults = StoreError("full"), 1
        asked = slack.mention("why is CT129 slow?")
        await slack.until(lambda: not bot.desk.faults)
        slack.say("gpu", "sam", "it was 70", thread_ts=asked.ts)
        await slack.until(lambda: bot.desk.texts() == ["it was 70"])

    play(tmp_path, scene)


def test_a_reply_whose_question_is_not_taken_up_for_long_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order, "WITHIN_S", 0.0)

    async def scene(slack: Workspace, bot: Reception) -> None:
        bot.desk.fault, bot.desk.faults = StoreError("full"), 1
        asked = slack.mention("why is CT129 slow?")
        await slack.until(lambda: not bot.desk.faults)
        slack.say("gpu", "sam", "it was 70", thread_ts=asked.ts)
        await slack.until(lambda: len(bot.store.inbox.unhandled()) == 2)
        await slack.until(lambda: not bot.front._under_way)
        assert not bot.desk.heard
        await bot.front.again(older_than_s=0)
        assert bot.desk.texts() == ["why is CT129 slow?", "it was 70"]
        assert not bot.store.inbox.unhandled()

    play(tmp_path, scene)


def test_a_direct_message_is_always_for_us(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.say("@sam", "sam", "why is CT129 slow?", files=[("serve.log", b"x")])
        await slack.until(lambda: bot.desk.heard)
        message, _ = bot.desk.heard[0]
        assert (message.place, message.addressed) == ("direct", True)
        assert [file.name for file in message.files] == ["serve.log"]
        assert message.files[0].url.startswith("http://127.0.0.1")

    play(tmp_path, scene)


def test_no_secret_of_a_message_reaches_the_store(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.mention("CT129 with --api-key sk-abcdefghijklmnop is slow")
        await slack.until(lambda: bot.desk.heard)

    play(tmp_path, scene)
    for path in tmp_path.iterdir():
        data = path.read_bytes()
        assert b"sk-abcdef" not in data
        assert b"verification" not in data  # the payload's own token


def test_a_click_is_heard_once_with_its_run_and_thread(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        message = await _post(slack, bot, "check_again", "7")
        click = slack.press("gpu", message.ts, "check_again", "sam")
        await slack.until(lambda: bot.desk.pressed)
        assert bot.desk.pressed == [
            ("check_again", 7, "U0SAM00001", "C0GPU00001", message.root, None, "")
        ]
        slack.again(click)
        await slack.until(lambda: slack.record.deliveries[-1].acked)
        assert len(bot.desk.pressed) == 1
        slack.press("gpu", message.ts, "check_again", "sam")
        await slack.until(lambda: len(bot.desk.pressed) == 2)  # another click is another wish

    play(tmp_path, scene)


def test_a_button_that_is_none_of_ours_is_only_acknowledged(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        for name, value in (("check_again", "seven"), ("drop_table", "7")):
            message = await _post(slack, bot, name, value)
            click = slack.press("gpu", message.ts, name, "sam")
            await slack.until(lambda click=click: click.acked)
        assert not bot.desk.pressed

    play(tmp_path, scene)


def test_the_platforms_own_stop_reaches_the_desk(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.send_event(
            {
                "type": "agent_session_stopped",
                "channel": "C0GPU00001",
                "thread_ts": "1700000000.000100",
                "user": "U0SAM00001",
                "streaming_message_ts": [],
            }
        )
        await slack.until(lambda: bot.desk.stopped)
        assert bot.desk.stopped == [("C0GPU00001", "1700000000.000100", "U0SAM00001")]

    play(tmp_path, scene)


def test_payloads_that_lack_what_we_need_are_nothing() -> None:
    for event in (
        {},
        {"type": "app_mention"},
        {"type": "assistant_thread_started"},
        {"type": "agent_session_stopped"},
    ):
        assert recognise({"type": "event_callback", "event": event}, US) is None
    for kind in ("block_actions", "view_submission", "message_action", "shortcut", "nonsense"):
        assert recognise({"type": kind}, US) is None
    assert recognise({}, US) is None
    assert recognise({"command": "/perf", "text": "hosts"}, US) is None


def test_while_it_ends_nothing_is_acknowledged_so_that_it_comes_again(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        bot.intake.closing = True
        slack.mention("why is CT129 slow?")
        await asyncio.sleep(0.3)
        assert not slack.record.events("app_mention")[0].acked
        bot.intake.closing = False
        await slack.until(lambda: bot.desk.heard)
        assert len(bot.desk.heard) == 1

    play(tmp_path, scene, ack_s=0.4, retry_after_s=(0.0, 0.2, 0.2))


async def _post(slack: Workspace, bot: Reception, action: str, value: str) -> Any:
    button = {
        "type": "button",
        "action_id": action,
        "value": value,
        "text": {"type": "plain_text", "text": "x"},
    }
    answer = await bot.wire.call(
        "chat.postMessage",
        channel="C0GPU00001",
        text="x",
        blocks=[{"type": "actions", "elements": [button]}],
    )
    return slack.message("gpu", answer["ts"])
