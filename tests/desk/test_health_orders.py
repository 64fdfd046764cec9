"""`/perf health`: a sweep now, or a summary each day, for who may ask and of what they may see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.access import Access, Asker
from bot.desk.health_orders import HealthOrders
from bot.health.order import Order
from bot.narrator import Line
from bot.settings import HostSettings, Settings
from bot.settings.schedule import Schedule
from bot.store import Run, Store
from tests.work.room import Everybody

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC).timestamp()  # a Friday
Say = Callable[..., str]


class Orders:
    """What is said, and what is enqueued."""

    def __init__(self, folder: Path) -> None:
        self.store = Store.open(f"sqlite:///{folder / 'store.sqlite'}")
        self.enqueued: list[Run] = []
        settings = Settings(
            hosts={
                "CT129": HostSettings(groups=("a6000",)),
                "CT130": HostSettings(groups=("a6000",), ask=("UANA",)),
                "CT200": HostSettings(groups=("h200",)),
            },
            summaries=(Schedule(channel="CFIX", groups=("h200",)),),
        )
        access = Access(settings, Everybody())
        self._orders = HealthOrders(self.store, settings, access, self.enqueued.append, lambda: NOW)

    def say(self, text: str, user: str = "USAM", channel: str = "CGPU", command: str = "1") -> str:
        told = self._orders.answer(text, Asker(user, channel), command)
        return "\n".join(one.text for one in told if isinstance(one, Line))


@pytest.fixture
def orders(tmp_path: Path) -> Iterator[Orders]:
    orders = Orders(tmp_path)
    yield orders
    orders.store.close()


def test_a_sweep_now_is_over_what_this_person_may_see(orders: Orders) -> None:
    assert orders.say("") == (
        "I look at 2 hosts, lightly and read-only. The summary comes in this channel."
    )
    (run,) = orders.enqueued
    order = Order.model_validate_json(run.message)
    assert (order.hosts, order.daily, order.date) == (("CT129", "CT200"), False, "2026-11-27")
    assert orders.say("a6000", command="2").startswith("I am looking at them already")
    assert orders.say("a6000", user="UANA", command="3").startswith("I look at 2 hosts")
    assert Order.model_validate_json(orders.enqueued[1].message).whom == "a6000"


def test_the_same_command_twice_is_one_sweep(orders: Orders) -> None:
    orders.say("", command="x")
    orders.store.runs.end(orders.enqueued[0].id, "done")
    orders.say("", command="x")
    assert len(orders.enqueued) == 1


def test_a_group_that_nobody_is_in_is_told_with_those_there_are(orders: Orders) -> None:
    assert orders.say("b200") == "No host is in a group b200. hosts.toml has a6000, h200."
    assert not orders.enqueued


def test_a_stranger_is_refused_and_it_is_written_down(orders: Orders) -> None:
    assert "may not ask me" in orders.say("schedule 08:30 UTC", user="UEVE")
    assert orders.store.audit.newest(1)[0].outcome == "refused"
    assert orders.store.schedules.all() == []


def test_a_schedule_says_when_the_next_one_comes_and_can_be_listed_and_ended(
    orders: Orders,
) -> None:
    said = orders.say("schedule 08:30 Europe/Berlin mon-fri a6000")
    assert said.startswith(
        "Set: 08:30 Europe/Berlin, mon to fri, hosts of a6000. "
        "The next one comes Mon 30 Nov at 08:30 (Europe/Berlin)."
    )
    (kept,) = orders.store.schedules.all("CGPU")
    assert f"{kept.id}: 08:30 Europe/Berlin" in orders.say("schedules")
    assert orders.say(f"unschedule {kept.id}", channel="COTH").startswith(
        "This channel has no summary of that number."
    )
    assert orders.say(f"unschedule {kept.id}") == f"Summary {kept.id} is not told any more."
    assert orders.say("schedules").startswith("No summary is set for this channel.")


def test_one_of_hosts_toml_is_listed_and_not_set_twice(orders: Orders) -> None:
    assert "set in hosts.toml" in orders.say("schedules", channel="CFIX")
    assert "already" in orders.say("schedule 09:00 UTC h200", channel="CFIX")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("schedule", "Tell me when, and in which time zone."),
        ("schedule 8:30 UTC", "'8:30' is no time of day: write it as 08:30."),
        ("schedule 08:30 Berlin", "'Berlin' is no time zone: name one as Europe/Berlin, or UTC."),
        ("schedule 08:30 UTC someday", "'someday' names no days: write mon-fri, or sat,sun, or daily."),
        ("schedule 08:30 UTC daily b200", "No host is in a group b200."),
        ("unschedule x", "This channel has no summary of that number."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_what_to_write(orders: Orders, typed: str, said: str) -> None:
    assert orders.say(typed).startswith(said)
    assert orders.store.schedules.all() == []


@pytest.mark.parametrize(
    ("typed", "days"),
    [
        ("mon-fri", 5),
        ("sat,sun", 2),
        ("fri-mon", 4),
        ("daily", 7),
        ("Monday-Wednesday", 3),
        ("", 7),
    ],
)
def test_days_are_read_as_people_write_them(orders: Orders, typed: str, days: int) -> None:
    orders.say(f"schedule 08:30 UTC {typed}")
    (kept,) = orders.store.schedules.all()
    assert len(kept.schedule.days) == days
