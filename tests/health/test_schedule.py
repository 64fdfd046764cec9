"""A summary is due once for each local date, whatever clocks, zones and outages do."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from bot.health.schedule import LATE_S, due, upcoming
from bot.settings.schedule import WEEK, Schedule

BERLIN = Schedule(channel="C1", at="02:30", zone="Europe/Berlin")


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def minutes(first, last):
    now = at(first)
    while now <= at(last):
        yield now
        now += 60


def keys(schedule, first, last):
    """The keys in the order in which a clock that ticks each minute sees them."""
    return list(
        dict.fromkeys(one.key for now in minutes(first, last) for one in due(schedule, now))
    )


def test_each_day_has_one_over_both_changes_of_clocks():
    spring = keys(BERLIN, "2026-03-28 00:00", "2026-03-31 00:00")
    assert [key.rsplit(":", 1)[1] for key in spring] == [
        "2026-03-28", "2026-03-29", "2026-03-30",
    ]  # fmt: skip
    autumn = keys(BERLIN, "2026-10-24 12:00", "2026-10-26 12:00")
    assert [key.rsplit(":", 1)[1] for key in autumn] == ["2026-10-25", "2026-10-26"]


def test_a_time_that_is_skipped_comes_an_hour_later_and_one_that_comes_twice_comes_first():
    [skipped] = due(BERLIN, at("2026-03-29 01:31"))  # 03:31 in Berlin
    assert datetime.fromtimestamp(skipped.at, UTC).isoformat() == "2026-03-29T01:30:00+00:00"
    [twice] = due(BERLIN, at("2026-10-25 00:31"))  # 02:31 in Berlin, summer time
    assert datetime.fromtimestamp(twice.at, UTC).isoformat() == "2026-10-25T00:30:00+00:00"


def test_nothing_is_due_before_its_time_nor_long_after_it():
    schedule = Schedule(channel="C1", at="08:30")
    moment = at("2026-11-30 08:30")
    assert not list(due(schedule, moment - 1))
    assert [one.date for one in due(schedule, moment)] == ["2026-11-30"]
    assert [one.date for one in due(schedule, moment + LATE_S - 1)] == ["2026-11-30"]
    assert not list(due(schedule, moment + LATE_S))


def test_one_that_was_missed_before_midnight_is_still_due_after_it():
    schedule = Schedule(channel="C1", at="23:50")
    assert [one.date for one in due(schedule, at("2026-12-01 01:00"))] == ["2026-11-30"]


def test_days_are_those_of_the_zone():
    workdays = Schedule(channel="C1", at="07:00", zone="Pacific/Auckland", days=WEEK[:5])
    # Sunday evening in Greenwich is Monday morning in Auckland
    assert [one.date for one in due(workdays, at("2026-11-29 18:01"))] == ["2026-11-30"]
    assert not list(due(workdays, at("2026-11-27 18:01")))


def test_the_next_one_is_told_in_its_zone():
    workdays = Schedule(channel="C1", at="08:30", zone="Europe/Berlin", days=WEEK[:5])
    told = upcoming(workdays, at("2026-11-27 08:00"))  # a Friday, after it
    assert told.isoformat() == "2026-11-30T08:30:00+01:00"


def test_summaries_of_other_hosts_in_a_channel_are_others_and_of_the_same_hosts_one():
    one = Schedule(channel="C1", groups=("A6000",))
    later = Schedule(channel="C1", at="09:00", groups=("a6000",))
    assert one.name == later.name != Schedule(channel="C1").name


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"at": "8:30"}, "write it as 08:30"),
        ({"at": "24:00"}, "write it as 08:30"),
        ({"zone": "Berlin"}, "name one as Europe/Berlin"),
    ],
)
def test_what_is_no_time_or_zone_is_refused_with_what_to_write(wrong, said):
    with pytest.raises(ValidationError, match=said):
        Schedule(channel="C1", **wrong)


def test_a_schedule_is_told_as_people_do():
    workdays = Schedule(channel="C1", zone="Europe/Berlin", days=WEEK[:5], groups=("a6000",))
    assert workdays.shown() == "08:30 Europe/Berlin, mon to fri, hosts of a6000"
    assert Schedule(channel="C1").shown() == "08:30 UTC, every day, all hosts"
