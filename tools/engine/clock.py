"""Times as logs print them, in seconds: for differences, never for the hour."""

from __future__ import annotations

from datetime import date
from functools import lru_cache


@lru_cache(maxsize=400)
def _day(text: str) -> int | None:
    try:
        return date.fromisoformat(text).toordinal() * 86400
    except ValueError:
        return None


def clock_s(at: str | None) -> int | None:
    """Return a printed time, with its date or without, in seconds; for differences only."""
    if at is None or len(at) < 8:
        return None
    day = _day(at[:10]) if len(at) >= 19 else 0
    clock = at[11:19] if len(at) >= 19 else at[:8]
    hours, minutes, rest = clock[:2], clock[3:5], clock[6:8]
    if day is None or not (hours + minutes + rest).isdecimal():
        return None
    return day + int(hours) * 3600 + int(minutes) * 60 + int(rest)
