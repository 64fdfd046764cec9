"""What was said while nobody listened is found, and nothing is heard twice."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from bot.slack.reception import catch_up
from tests.fakes import Workspace
from tests.fakes.reception import Reception, play

BOT = "<@U0PERFSLTH>"


def test_messages_that_were_missed_while_the_bot_was_away_are_found_once(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        asked = slack.mention("why is CT129 slow?")
        direct = slack.say("@sam", "sam", "why is CT130 slow?")
        await slack.until(lambda: len(bot.desk.heard) == 2)
        await asyncio.to_thread(bot.ears.flush)
        other, lunch = slack.say("gpu", "ana", "look"), slack.say("gpu", "ana", "lunch?")
        slack.say_silently("gpu", "sam", f"{BOT} and CT130?")
        slack.say_silently("gpu", "ana", "why not NCCL?", thread_ts=asked.ts)
        slack.say_silently("gpu", "ana", "nothing for you", thread_ts=lunch.ts)
        slack.say_silently("gpu", "ana", f"{BOT} in another thread", thread_ts=other.ts)
        slack.say_silently("gpu", "ana", "nor this")
        slack.say_silently("@sam", "sam", "hello?", thread_ts=direct.ts)
        slack.say_silently("@sam", "sam", "anybody?")
        assert await bot.catch_up.look_back() == 5
        assert sorted(bot.desk.texts()[2:]) == sorted(
            ["and CT130?", "why not NCCL?", "in another thread", "hello?", "anybody?"]
        )
        assert await bot.catch_up.look_back() == 0
        assert len(bot.desk.heard) == 7

    play(tmp_path, scene)


def test_a_fault_over_one_of_them_is_told_in_its_thread_and_the_others_are_handled(
    tmp_path: Path,
) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.mention("why is CT129 slow?")
        await slack.until(lambda: bot.desk.heard)
        first = slack.say_silently("gpu", "sam", f"{BOT} and CT130?")
        slack.say_silently("gpu", "ana", f"{BOT} and CT129?")
        bot.desk.fault, bot.desk.faults = ValueError("not foreseen"), 1
        assert await bot.catch_up.look_back() == 2
        assert bot.desk.texts()[1:] == ["and CT129?"]
        (told,) = bot.store.letters.due()
        assert told.letter.thread == first.ts

    play(tmp_path, scene)


def test_a_message_that_comes_by_event_and_by_history_is_heard_once(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.mention("why is CT129 slow?")
        await slack.until(lambda: bot.desk.heard)
        missed = slack.say_silently("gpu", "sam", f"{BOT} and CT130?")
        assert await bot.catch_up.look_back() == 1
        slack.tell_of(missed)
        await slack.until(lambda: all(d.acked for d in slack.record.deliveries))
        assert len(bot.desk.heard) == 2

    play(tmp_path, scene)


def test_a_dropped_socket_comes_back_and_what_it_missed_is_found(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.mention("why is CT129 slow?")
        await slack.until(lambda: bot.desk.heard)
        slack.drop_sockets()
        slack.say_silently("gpu", "sam", f"{BOT} and CT130?")
        await slack.until(lambda: len(bot.desk.heard) == 2)
        slack.mention("and now?")
        await slack.until(lambda: len(bot.desk.heard) == 3)

    play(tmp_path, scene)


def test_a_polite_reconnect_loses_nothing(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.mention("why is CT129 slow?")
        await slack.until(lambda: bot.desk.heard)
        renewing = asyncio.create_task(slack.refresh_sockets())
        for number in range(10):
            slack.mention(f"and {number}?")
            await asyncio.sleep(0.05)
        await renewing
        await slack.until(lambda: len(bot.desk.heard) == 11)
        assert sorted(bot.desk.texts()[1:]) == [f"and {n}?" for n in range(10)]

    play(tmp_path, scene)


def test_nothing_counts_as_heard_until_what_was_missed_is_found(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.mention("why is CT129 slow?")
        await slack.until(lambda: bot.desk.heard)
        await asyncio.to_thread(bot.ears.flush)
        kept = bot.store.heard.all()
        slack.faults.every(1, "status", methods=("conversations.history",))
        bot.catch_up.want()
        slack.mention("and CT130?")
        await slack.until(lambda: len(bot.desk.heard) == 2)
        await asyncio.to_thread(bot.ears.flush)
        assert bot.store.heard.all() == kept

    play(tmp_path, scene)


def test_a_history_of_many_pages_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catch_up, "_PAGE", 10)

    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.mention("why is CT129 slow?")
        await slack.until(lambda: bot.desk.heard)
        for number in range(25):
            slack.say_silently("gpu", "ana", f"talk {number}")
            if number % 5 == 0:
                slack.say_silently("gpu", "sam", f"{BOT} question {number}")
        assert await bot.catch_up.look_back() == 5
        assert len(slack.calls("conversations.history")) >= 3

    play(tmp_path, scene, rates=False)


def test_a_channel_that_is_gone_does_not_hold_the_others(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        slack.mention("why is CT129 slow?")
        await slack.until(lambda: bot.desk.heard)
        bot.store.heard.note("C0AAAGONE1", f"{time.time():.6f}")
        slack.say_silently("gpu", "sam", f"{BOT} and CT130?")
        assert await bot.catch_up.look_back() == 1

    play(tmp_path, scene)


def test_what_is_older_than_a_day_is_left_alone(tmp_path: Path) -> None:
    async def scene(slack: Workspace, bot: Reception) -> None:
        old = slack.say_silently("gpu", "sam", f"{BOT} yesterday's question")
        old.ts = f"{time.time() - 25 * 3600:.6f}"
        bot.store.heard.note("C0GPU00001", f"{time.time() - 26 * 3600:.6f}")
        assert await bot.catch_up.look_back() == 0

    play(tmp_path, scene)
