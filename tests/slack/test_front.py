"""After the ack: everything reaches the desk once, and whatever fails ends in a sentence."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from pathlib import Path

import pytest

from bot.settings import Access, HostSettings, Settings
from bot.slack.api.troubles import Away, SlackTrouble
from bot.slack.reception import everybody, groups
from bot.store import StoreError
from tests.fakes import Workspace
from tests.fakes.reception import Reception, play


def test_a_fault_of_ours_is_told_in_the_thread_and_never_in_its_own_words(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        bot.desk.fault, bot.desk.faults = ValueError("hunter2 at /root/key"), 1
        asked = slack.mention("why is CT129 slow?")
        await slack.until(bot.store.letters.due)
        letter = bot.store.letters.due()[0].letter
        assert letter.thread == asked.ts
        assert "ValueError" in letter.parts[0].text  # type: ignore[union-attr]
        assert "hunter2" not in letter.model_dump_json()
        assert not bot.store.inbox.unhandled(), "a fault would only come again"
        assert not bot.desk.heard

    play(tmp_path, scene)
    assert "ValueError" in caplog.text
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize("fault", [StoreError("no"), Away(uncertain=True)])
def test_what_failed_for_a_while_is_handled_again_without_a_word(
    tmp_path: Path, fault: Exception
) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        bot.desk.fault, bot.desk.faults = fault, 2
        slack.mention("why is CT129 slow?")
        await slack.until(lambda: bot.desk.faults == 1 and not bot.front._under_way)
        await bot.front.again(older_than_s=0)
        assert not bot.desk.heard
        await bot.front.again(older_than_s=0)
        assert bot.desk.texts() == ["why is CT129 slow?"]
        await bot.front.again(older_than_s=0)
        assert len(bot.desk.heard) == 1
        assert not bot.store.letters.due()

    play(tmp_path, scene)


def test_what_was_written_down_by_a_dead_process_is_handled_by_the_next(tmp_path: Path) -> None:
    async def first(slack: Workspace, bot: Reception) -> None:
        bot.desk.fault, bot.desk.faults = StoreError("killed"), 99
        slack.mention("why is CT129 slow?")
        slack.command("/perf ask why is CT130 slow?", "gpu", "sam")
        await slack.until(lambda: bot.desk.faults == 97)

    async def second(slack: Workspace, bot: Reception) -> None:
        await bot.front.again(older_than_s=0)
        assert bot.desk.texts() == ["why is CT129 slow?", "why is CT130 slow?"]

    play(tmp_path, first)
    play(tmp_path, second)


def test_what_this_version_cannot_read_is_told_and_holds_nobody(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        place = {"channel": "C0GPU00001", "thread": "1700000000.000001", "user": "U0SAM00001"}
        bot.store.inbox.receive("a", "message", {**place, "of_a_newer": "version"})
        bot.store.inbox.receive("b", "vote", place)
        bot.store.inbox.receive("c", "vote", {})
        bot.store.inbox.receive("d", "stop", place)
        await bot.front.again(older_than_s=0)
        assert len(bot.desk.stopped) == 1
        told = [due.letter for due in bot.store.letters.due()]
        assert {(one.channel, one.thread) for one in told} == {(place["channel"], place["thread"])}
        assert {one.key for one in told} == {"fault:a", "fault:b"}
        assert not bot.store.inbox.unhandled()

    play(tmp_path, scene)


def test_perf_ask_puts_the_question_into_the_channel_once_and_asks_in_its_thread(
    tmp_path: Path,
) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        # the answer to the post is lost, so that the next try must look before it posts
        slack.faults.next("chat.postMessage", "drop_after")
        slack.command("/perf ask why is CT129 slow, <@U0ANA00001>?", "gpu", "sam")
        await slack.until(lambda: slack.messages("gpu") and not bot.front._under_way)
        assert not bot.desk.heard
        later = bot.store.inbox.unhandled()[0]
        await bot.front.handle(type(later)(later.id, later.kind, later.body, later.at - 60))
        assert bot.desk.texts() == ["why is CT129 slow, @U0ANA00001?"]
        (posted,) = slack.messages("gpu")
        message, _ = bot.desk.heard[0]
        assert (message.ts, message.thread, message.place) == (posted.ts, posted.ts, "command")
        assert message.user == "U0SAM00001"
        assert "sam asks" in posted.text

    play(tmp_path, scene)


def test_perf_ask_where_we_are_not_says_to_invite_us(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        command = slack.command("/perf ask why is CT129 slow?", "general", "sam")
        await slack.until(lambda: command.acked and slack.ephemeral("general", "sam"))
        assert "/invite @perfsleuth" in slack.ephemeral("general", "sam")[0].text
        assert not bot.desk.heard
        await slack.until(lambda: not bot.store.inbox.unhandled())

    play(tmp_path, scene, ack_s=60.0)


def test_perf_help_hosts_and_health_answer_in_the_ack(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        run = bot.store.runs.add(
            "k", "host", host="CT129", channel="C0GPU00001", thread="1.1", user="U0SAM00001"
        )
        assert run
        bot.store.runs.begin(run.id)
        told: dict[str, str] = {}
        for verb in ("", "help", "hosts", "health", "nonsense", "ask"):
            command = slack.command(f"/perf {verb}", "general", "sam")
            await slack.until(lambda command=command: command.acked)
            assert command.answer
            assert command.answer["response_type"] == "ephemeral"
            told[verb] = json.dumps(command.answer)
        assert told[""] == told["help"]
        assert "CT129: never asked about (I am looking at it now)" in told["hosts"]
        assert "CT130: never asked about" in told["hosts"]
        assert "I look at 2 hosts, lightly and read-only." in told["health"]
        assert "I know /perf ask, tune, hosts, health and help" in told["nonsense"]
        assert "What do you want to know?" in told["ask"]
        assert not bot.store.inbox.unhandled()

    play(tmp_path, scene, ack_s=60.0)


def test_perf_hosts_shows_nobody_what_they_may_not_ask_about(tmp_path: Path) -> None:
    settings = Settings(
        hosts={
            "CT129": HostSettings(local=True, ask=("S0SERVING1",)),
            "CT130": HostSettings(local=True),
            "SECRET1": HostSettings(local=True, ask=("U0NOBODY01",)),
        },
        access=Access(ask=("S0SERVING1", "U0ANA00001")),
    )

    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.world.add_user("eve")
        told = {}
        for who in ("sam", "ana", "eve"):
            command = slack.command("/perf hosts", "gpu", who)
            await slack.until(lambda command=command: command.acked)
            told[who] = json.dumps(command.answer)
        assert "SECRET1" not in "".join(told.values())
        assert "CT129" in told["sam"]
        assert "CT129" not in told["ana"]
        assert "CT130" in told["ana"]
        assert "CT130" not in told["eve"]
        assert "may not ask" in told["eve"]

    play(tmp_path, scene, settings=settings, ack_s=60.0)


def test_a_shortcut_takes_a_long_message_as_evidence_and_a_short_one_as_the_question(
    tmp_path: Path,
) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        log = "\n".join(f"[gpu {n}] Decode batch. #running-req: {n}" for n in range(12))
        long = slack.say("gpu", "ana", log)
        slack.shortcut("diagnose_this", "gpu", long.ts, "sam")
        await slack.until(lambda: len(bot.desk.heard) == 1)
        short = slack.say("gpu", "ana", "why is CT129 slow?")
        for count in (2, 3):  # pointed at again, it is asked again
            slack.shortcut("diagnose_this", "gpu", short.ts, "sam")
            await slack.until(lambda count=count: len(bot.desk.heard) == count)
        first, second, third = (message for message, _ in bot.desk.heard)
        assert (first.text, first.pasted, first.thread) == ("", (log,), long.ts)
        assert (second.text, second.pasted, second.thread) == ("why is CT129 slow?", (), short.ts)
        assert (first.user, first.place) == ("U0SAM00001", "shortcut")
        assert second.key != third.key

    play(tmp_path, scene)


def test_a_no_opens_the_question_why_and_its_answer_comes_with_the_run(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        feedback = {
            "type": "context_actions",
            "elements": [
                {
                    "type": "feedback_buttons",
                    "action_id": "right",
                    "positive_button": {
                        "text": {"type": "plain_text", "text": "y"},
                        "value": "yes:7",
                    },
                    "negative_button": {
                        "text": {"type": "plain_text", "text": "n"},
                        "value": "no:7",
                    },
                }
            ],
        }
        asked = slack.say("gpu", "sam", "hello")
        answer = await bot.wire.call(
            "chat.postMessage",
            channel=asked.channel,
            text="x",
            thread_ts=asked.ts,
            blocks=[feedback],
        )
        slack.press("gpu", answer["ts"], "right", "sam", value="yes:7")
        await slack.until(lambda: len(bot.desk.pressed) == 1)
        assert not slack.open_views("U0SAM00001")
        slack.press("gpu", answer["ts"], "right", "sam", value="no:7")
        await slack.until(lambda: slack.open_views("U0SAM00001"))
        view = slack.open_views("U0SAM00001")[0]
        await slack.until(lambda: len(bot.desk.pressed) == 2)
        slack.submit(view, {"reason": "it was the riser, api_key=sk-abcdefghijklmnop"})
        await slack.until(lambda: len(bot.desk.pressed) == 3)
        where = ("U0SAM00001", asked.channel, asked.ts)
        assert bot.desk.pressed[0] == ("right", 7, *where, True, "")
        assert bot.desk.pressed[1] == ("right", 7, *where, False, "")
        assert bot.desk.pressed[2][:6] == ("right", 7, *where, False)
        assert bot.desk.pressed[2][6].startswith("it was the riser")
        assert "sk-abc" not in bot.desk.pressed[2][6]

    play(tmp_path, scene)


def test_home_is_shown_and_an_error_of_slack_is_a_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.open_home("sam")
        await slack.until(lambda: slack.calls("views.publish"))
        await slack.until(lambda: slack.calls("views.publish")[0].ok)
        assert "CT129" in json.dumps(slack.calls("views.publish")[0].args)
        slack.without("views.publish")
        slack.open_home("sam")
        await slack.until(lambda: "Home tab" in caplog.text)
        assert all(delivery.acked for delivery in slack.record.deliveries)

    play(tmp_path, scene)
    assert "unknown_method" in caplog.text


def test_who_opens_the_assistant_is_greeted_once_with_suggestions(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.open_assistant("sam")
        await slack.until(bot.store.letters.due)
        await slack.until(lambda: slack.calls("assistant.threads.setSuggestedPrompts"))
        slack.again(slack.record.events("assistant_thread_started")[0])
        await slack.until(lambda: slack.record.deliveries[-1].acked)
        assert len(bot.store.letters.due()) == 1
        thread = bot.store.letters.due()[0].letter.thread
        slack.say("@sam", "sam", "why is CT129 slow?", thread_ts=thread)
        await slack.until(lambda: slack.calls("assistant.threads.setTitle"))
        assert slack.calls("assistant.threads.setTitle")[0].args["title"] == "why is CT129 slow?"

    play(tmp_path, scene)


def test_a_workspace_without_titles_is_asked_once_and_no_more(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.without("assistant.threads.setTitle", "agents.sessions.rename")
        for number in range(3):
            slack.say("@sam", "sam", f"why is CT129 slow? {number}")
            await slack.until(lambda number=number: len(bot.desk.heard) == number + 1)
        await slack.until(lambda: not bot.store.inbox.unhandled())
        await asyncio.sleep(0.1)
        assert len(slack.calls("assistant.threads.setTitle")) <= 3
        slack.say("@sam", "sam", "and CT130?")
        await slack.until(lambda: len(bot.desk.heard) == 4)
        before = len(slack.calls("assistant.threads.setTitle"))
        await asyncio.sleep(0.2)
        assert len(slack.calls("assistant.threads.setTitle")) == before

    play(tmp_path, scene)


def test_groups_and_strangers_are_asked_of_slack_and_kept(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.world.add_user("eve", team="T0OTHER001")
        ask = asyncio.to_thread
        assert await ask(bot.groups.members, "S0SERVING1") == {"U0SAM00001"}
        assert await ask(bot.groups.members, "S0NOBODY01") == frozenset()
        assert not await ask(bot.groups.stranger, "U0SAM00001")
        assert await ask(bot.groups.stranger, slack.world.user("eve").id)
        assert await ask(bot.groups.stranger, "U0UNKNOWN1")
        count = len(slack.calls())
        slack.faults.outage(60)
        assert await ask(bot.groups.members, "S0SERVING1") == {"U0SAM00001"}
        assert len(slack.calls()) == count

    play(tmp_path, scene)


def test_while_slack_is_away_an_old_answer_serves_and_who_is_unknown_is_not_let_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        assert not await asyncio.to_thread(bot.groups.stranger, "U0SAM00001")
        monkeypatch.setattr(groups, "KEPT_S", 0.0)
        monkeypatch.setattr(groups, "WITHIN_S", 0.3)
        slack.faults.outage(60)
        assert not await asyncio.to_thread(bot.groups.stranger, "U0SAM00001")
        assert [call for call in slack.calls("users.info") if not call.ok], "it was asked anew"
        with pytest.raises(SlackTrouble):
            await asyncio.to_thread(bot.groups.stranger, "U0ANA00001")

    play(tmp_path, scene)


def test_where_slack_puts_off_who_somebody_is_all_members_are_asked_for_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        monkeypatch.setattr(everybody, "_PAGE", 12)
        for n in range(20):
            slack.world.add_user(f"new{n:02}", guest=n == 7)
        crowd = [slack.world.user(f"new{n:02}").id for n in range(20)]
        slack.faults.next("users.info", "ratelimited", seconds=60)
        asked = [asyncio.to_thread(bot.groups.stranger, user) for user in crowd]
        assert [n for n, stranger in enumerate(await asyncio.gather(*asked)) if stranger] == [7]
        assert len(slack.calls("users.list")) <= everybody._PAGES

    play(tmp_path, scene)


def test_a_rate_limit_is_waited_for_where_the_list_of_all_does_not_help(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.world.add_user("eve", team="T0THEIRS01")
        for name in ("eve", "sam"):
            slack.faults.next("users.info", "ratelimited", seconds=0.3)
            slack.faults.next("users.list", "ratelimited", seconds=0.1)
            began = time.monotonic()
            user = slack.world.user(name)
            assert await asyncio.to_thread(bot.groups.stranger, user.id) is (name == "eve")
            assert time.monotonic() - began >= 0.3

    play(tmp_path, scene)


def test_without_the_scope_nobody_is_let_in_and_the_sentence_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.settings.scopes.discard("users:read")
        command = slack.command("/perf hosts", "gpu", "sam")
        await slack.until(lambda: command.acked)
        told = json.dumps(command.answer)
        assert "users:read" in told
        assert "CT129" not in told

    caplog.set_level(logging.INFO)
    play(tmp_path, scene, ack_s=60.0)
