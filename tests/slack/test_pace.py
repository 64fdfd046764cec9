"""Who may call when: one message a second and channel, tiers, what 429 holds, who goes first."""

from __future__ import annotations

import asyncio
import time

import pytest

from bot.slack.api.outage import FROM, Outage
from bot.slack.api.pace import AGAIN, SOON, URGENT, WHENEVER, Pace
from bot.slack.api.troubles import Away, Refused


def test_messages_of_a_channel_are_a_second_apart_and_channels_do_not_wait_for_each_other() -> None:
    now = [0.0]
    pace = Pace(now=lambda: now[0])

    async def story() -> None:
        await pace.turn("chat.postMessage", "C1")
        assert pace.wait_s("chat.postMessage", "C1") == pytest.approx(1.0)
        assert pace.wait_s("chat.startStream", "C1") == pytest.approx(1.0)
        assert pace.wait_s("files.completeUploadExternal", "C1") == pytest.approx(1.0)
        assert pace.wait_s("chat.postMessage", "C2") == 0
        assert pace.wait_s("chat.update", "C1") == 0
        now[0] = 0.75
        assert pace.wait_s("chat.postMessage", "C1") == pytest.approx(0.25)
        now[0] = 60.0
        await pace.turn("chat.postMessage", "C1")
        assert pace.wait_s("chat.postMessage", "C1") == pytest.approx(1.0)  # no burst was saved up

    asyncio.run(story())


def test_a_tier_is_a_bucket_of_its_method() -> None:
    now = [0.0]
    pace = Pace(now=lambda: now[0])
    assert sum(pace.take("chat.startStream") for _ in range(30)) == 10
    assert pace.wait_s("chat.startStream") == pytest.approx(3.0)
    assert pace.take("chat.stopStream")
    now[0] = 3.0
    assert pace.take("chat.startStream")
    assert not pace.take("chat.startStream")


def test_some_of_a_burst_may_be_kept_for_who_needs_it_more() -> None:
    now = [0.0]
    pace = Pace(now=lambda: now[0])
    assert sum(pace.take("chat.startStream", leaving=3) for _ in range(30)) == 7
    assert sum(pace.take("chat.startStream") for _ in range(30)) == 3


def test_nobody_waits_for_what_was_never_used() -> None:
    """The real clock goes on between two looks at it: a new bucket must not count that as a debt."""
    pace = Pace()
    assert [pace.wait_s("chat.postMessage", f"C{n}") for n in range(50)] == [0.0] * 50


def test_429_holds_the_method_or_the_channel_and_nothing_else() -> None:
    now = [0.0]
    pace = Pace(now=lambda: now[0])
    pace.hold("chat.update", "C1", 30)
    pace.hold("chat.postMessage", "C1", 7)
    assert pace.wait_s("chat.update") == 30
    assert pace.wait_s("chat.postMessage", "C1") == 7
    assert pace.wait_s("chat.startStream", "C1") == 7
    assert pace.wait_s("chat.postMessage", "C2") == 0
    assert pace.wait_s("chat.appendStream", "C1") == 0
    now[0] = 29.0
    assert pace.wait_s("chat.update") == 1
    pace.hold("chat.update", "C1", 0.1)  # a shorter one does not shorten it
    assert pace.wait_s("chat.update") == 1


def test_the_urgent_go_first_then_who_came_first() -> None:
    async def story() -> list[str]:
        began, queued, order = time.monotonic(), asyncio.Event(), []
        # the time stands still until all have asked
        clock = lambda: time.monotonic() if queued.is_set() else began  # noqa: E731
        pace = Pace(message_every_s=0.02, now=clock)

        async def call(name: str, urgency: int) -> None:
            await pace.turn("chat.postMessage", "C1", urgency)
            order.append(name)

        await pace.turn("chat.postMessage", "C1")
        calls = [("edit", WHENEVER), ("first", SOON), ("second", SOON), ("reply", URGENT)]
        calls.append(("sent back", AGAIN))
        tasks = []
        for name, urgency in calls:
            tasks.append(asyncio.create_task(call(name, urgency)))
            await asyncio.sleep(0)
        queued.set()
        await asyncio.gather(*tasks)
        return order

    assert asyncio.run(story()) == ["sent back", "reply", "first", "second", "edit"]


def test_who_gives_up_waiting_holds_nobody() -> None:
    async def story() -> None:
        pace = Pace(message_every_s=0.2)
        await pace.turn("chat.postMessage", "C1")
        gone = asyncio.create_task(pace.turn("chat.postMessage", "C1", URGENT))
        waits = asyncio.create_task(pace.turn("chat.postMessage", "C1"))
        await asyncio.sleep(0.01)
        gone.cancel()
        await asyncio.wait_for(waits, 60)

    asyncio.run(story())


def test_a_hundred_waiters_keep_the_rate() -> None:
    async def story() -> float:
        pace = Pace(message_every_s=0.005)
        began = time.monotonic()
        await asyncio.gather(*(pace.turn("chat.postMessage", "C1") for _ in range(100)))
        return time.monotonic() - began

    assert asyncio.run(story()) >= 99 * 0.005 * 0.98


def test_an_outage_begins_with_the_third_failure_and_ends_with_one_success() -> None:
    async def story() -> None:
        outage, at_once, most = Outage(longest_s=0.01), 0, 0

        async def call(*, works: bool) -> None:
            nonlocal at_once, most
            async with outage.attempt():
                at_once += 1
                most = max(most, at_once)
                await asyncio.sleep(0.002)
                at_once -= 1
                if not works:
                    raise Away(uncertain=True)

        for number in range(FROM):
            assert not outage.lasts, number
            with pytest.raises(Away):
                await call(works=False)
        assert outage.lasts
        most = 0
        calls = [call(works=False) for _ in range(5)]
        assert len(await asyncio.gather(*calls, return_exceptions=True)) == 5
        assert most == 1
        await call(works=True)
        assert not outage.lasts

    asyncio.run(story())


def test_a_refusal_is_an_answer_and_no_outage() -> None:
    async def story() -> None:
        outage = Outage()
        for _ in range(FROM + 1):
            with pytest.raises(Refused):
                async with outage.attempt():
                    raise Refused("channel_not_found")
        assert not outage.lasts
        for trouble in [Away(uncertain=True), Refused("is_archived")] * FROM:
            with pytest.raises(type(trouble)):
                async with outage.attempt():
                    raise trouble
        assert not outage.lasts, "there were as many failures as an outage has, but not in a row"

    asyncio.run(story())


def test_waits_double_up_to_half_a_minute() -> None:
    outage = Outage()
    waits = [outage.back_off_s(n) for n in range(1, 20)]
    assert waits[0] <= 0.5 < waits[2]
    assert 22 < waits[-1] <= 30
