"""When a summary is due; pure, and once for each local date, whatever clocks do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from bot.settings.schedule import WEEK, Schedule

LATE_S = 6 * 3600.0  # after an outage a summary is still worth posting for so long


@dataclass(frozen=True)
class Due:
    """One summary to be posted. `key` is unique for ever: a local date has one, whatever clocks do."""

    schedule: Schedule
    date: str  # local, 2026-11-30
    at: float  # seconds since the epoch

    @property
    def key(self) -> str:
        """Name the summary of this channel, these hosts and this local date."""
        return f"summary:{self.schedule.channel}:{self.schedule.name}:{self.date}"


def due(schedule: Schedule, now: float) -> Iterator[Due]:
    """Yield what was due within LATE_S before now, oldest first; what is older nobody wants any more.

    A time that a change of clocks skips counts as if they had not been changed yet (02:30 is 03:30
    then); a time that comes twice counts the first time.
    """
    zone = ZoneInfo(schedule.zone)
    today = datetime.fromtimestamp(now, zone).date()
    for day in (today - timedelta(days=1), today):
        if WEEK[day.weekday()] not in schedule.days:
            continue
        at = _instant(day, schedule.at, zone)
        if now - LATE_S < at <= now:
            yield Due(schedule, day.isoformat(), at)


def upcoming(schedule: Schedule, now: float) -> datetime:
    """Return when the next one is due, in its own time zone."""
    zone = ZoneInfo(schedule.zone)
    today = datetime.fromtimestamp(now, zone).date()
    days = (today + timedelta(days=n) for n in range(len(WEEK) + 1))
    at = next(
        one
        for day in days
        if WEEK[day.weekday()] in schedule.days and (one := _instant(day, schedule.at, zone)) > now
    )
    return datetime.fromtimestamp(at, zone)


def _instant(day: date, at: str, zone: ZoneInfo) -> float:
    local = datetime.combine(day, time.fromisoformat(at), zone)
    return local.astimezone(UTC).timestamp()
