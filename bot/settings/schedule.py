"""When and where a summary is told: a time of day in a time zone, on some days, over some hosts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, get_args
from zoneinfo import available_timezones

from pydantic import BaseModel, ConfigDict, field_validator

Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
WEEK: tuple[Weekday, ...] = get_args(Weekday)
_PLACES = {str(day): place for place, day in enumerate(WEEK)}
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")
_CHANNEL = re.compile(r"[CGD][A-Z0-9]{1,30}")
_GROUPS, _LETTERS = 8, 60  # of one summary: its name is part of a key


class Schedule(BaseModel):
    """One summary a day in one channel: at `at` of `zone`, on `days`, over `groups` (none: all hosts)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    channel: str
    at: str = "08:30"
    zone: str = "UTC"
    days: tuple[Weekday, ...] = WEEK
    groups: tuple[str, ...] = ()

    @field_validator("channel")
    @classmethod
    def _is_a_channel(cls, channel: str) -> str:
        if not _CHANNEL.fullmatch(channel):
            raise ValueError(f"{channel!r} is no channel: write its id, as C0123ABCD")
        return channel

    @field_validator("at")
    @classmethod
    def _is_a_time(cls, at: str) -> str:
        if not _TIME.fullmatch(at):
            raise ValueError(f"{at!r} is no time of day: write it as 08:30")
        return at

    @field_validator("zone")
    @classmethod
    def _is_a_zone(cls, zone: str) -> str:
        if zone not in available_timezones():
            raise ValueError(f"{zone!r} is no time zone: name one as Europe/Berlin, or UTC")
        return zone

    @field_validator("days", mode="before")
    @classmethod
    def _are_days(cls, days: object) -> object:
        """Read "mon-fri" and "daily" as people write them, or a list."""
        return days_of(days) if isinstance(days, str) else days

    @field_validator("groups")
    @classmethod
    def _are_few(cls, groups: tuple[str, ...]) -> tuple[str, ...]:
        if len(groups) > _GROUPS or any(not 0 < len(one) <= _LETTERS for one in groups):
            raise ValueError(f"up to {_GROUPS} groups of up to {_LETTERS} letters make one summary")
        return groups

    @property
    def name(self) -> str:
        """Name it within its channel: the same groups at another time are the same summary."""
        return "+".join(sorted(group.lower() for group in self.groups)) or "all"

    def shown(self) -> str:
        """Say it to a person: "08:30 Europe/Berlin, mon to fri, all hosts"."""
        days = "every day" if set(self.days) == set(WEEK) else ", ".join(self.days)
        if self.days == WEEK[:5]:
            days = "mon to fri"
        whom = f"hosts of {', '.join(self.groups)}" if self.groups else "all hosts"
        return f"{self.at} {self.zone}, {days}, {whom}"


def days_of(text: str) -> Sequence[Weekday]:
    """Read "mon-fri", "sat,sun" or "daily"; raise ValueError with one clause."""
    if text.lower() in ("daily", "every day", "all"):
        return WEEK
    found: set[str] = set()
    for part in text.lower().replace(" ", "").split(","):
        first, _, last = part.partition("-")
        begin, end = (_PLACES.get(one[:3]) for one in (first, last or first))
        if begin is None or end is None:
            raise ValueError(f"{text!r} names no days: write mon-fri, or sat,sun, or daily")
        found |= {WEEK[n % len(WEEK)] for n in range(begin, end + 1 + len(WEEK) * (end < begin))}
    return tuple(day for day in WEEK if day in found)
