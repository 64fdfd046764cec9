"""The course of a figure over days: what is normal here, and where it left that for good.

One value a day. The days before a place are what is normal; the days from it on are held against
them. Spread is taken wide on purpose: a noisy host must not be reported, and a host that never
changes must not be reported for the first thousandth by which it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean, median
from typing import Literal

from tools.vitals.normal import Normal

RECENT = 14  # days in which a change is news; later it is what is normal
NORMAL = 28  # days before a change that tell what was normal
LEAST = 7  # of them where the setting changed,
LONG = 10  # and where it did not, or nothing can be said
FEW = 5  # days after a change that must lie
FAR = 1.3  # times as far from the middle as any normal day
QUIET_PCT = 2.0  # of the middle: up to here a spread is that of a steady host
SURE, SURE_OF_NOISY = 4.0, 6.0  # standard errors between normal and now
SURE_AT_A_CHANGE = 3.0  # where the setting changed that day: then a change is no surprise
_FALLING = 0.6  # share of a change that lies within the days after it, of a decline
_FEWEST_FALLING = 3
_ONE_PART = 0.65  # of the way, that one day of a decline may be

ShiftKind = Literal["step", "decline"]


@dataclass(frozen=True)
class Day:
    """One day of a figure. `value` is above zero; `setting` names what ran, equal while it is equal.

    `load` says under which load the value was read: days are compared with days of that load.
    """

    date: str  # 2026-11-30
    value: float
    setting: str = ""
    load: str = ""


@dataclass(frozen=True)
class Shift:
    """A change that holds until the last day. Percent of the normal value; negative is less.

    `since` is the first day that is not normal any more. `pct_low` and `pct_high` bound the change
    at 95 %. `setting_changed` says that another setting ran from that day on.
    """

    kind: ShiftKind
    since: str
    days: int
    normal: float
    now: float
    pct: float
    pct_low: float
    pct_high: float
    pct_a_day: float | None  # of a decline
    setting_changed: bool


def shift(days: Sequence[Day], *, floor_pct: float) -> Shift | None:
    """Return how the last days left what was normal, either way; None where they did not.

    `floor_pct` is the least change that is worth a word. Days in order, one value each; days of
    another load than the last one's do not count.
    """
    if not days:
        return None
    alike = [day for day in days if day.load == days[-1].load]
    if _as_ever(alike, floor_pct):
        return None
    told = [
        found
        for at in range(max(LEAST, len(alike) - RECENT), len(alike))
        if (found := _between(alike, at, floor_pct))
    ]
    if not told:
        return None
    _, at, normal = max(told, key=lambda one: (one[0], one[1]))
    return _shift(alike, at, normal)


def _as_ever(days: Sequence[Day], floor_pct: float) -> bool:
    """Say whether the last day lies so near the middle of all that nothing can have changed."""
    middle = median(day.value for day in days[-NORMAL - RECENT :])
    recent = median(day.value for day in days[-RECENT:])
    return all(100 * abs(days[-1].value / one - 1) < floor_pct / 2 for one in (middle, recent))


def _between(days: Sequence[Day], at: int, floor_pct: float) -> tuple[float, int, Normal] | None:
    """Return how sure a change at one place is, if it is."""
    normal = Normal.of([day.value for day in days[max(0, at - NORMAL) : at]])
    after = [day.value for day in days[at:]]
    changed = days[at].setting != days[at - 1].setting
    if 100 * abs(_middle(after) / normal.value - 1) < floor_pct:
        return None
    if not changed and (at < LONG or not _for_good(after, normal)):
        return None
    sure = _least_moved(after, normal) / normal.error(len(after))
    least = SURE_AT_A_CHANGE if changed else SURE if _quiet(normal) else SURE_OF_NOISY
    return (sure, at, normal) if sure >= least else None


def _middle(after: Sequence[float]) -> float:
    return mean(after) if len(after) < FEW else median(after)


def _least_moved(after: Sequence[float], normal: Normal) -> float:
    """Return how far days moved: of a few the one that moved least, so that one odd day is none."""
    if len(after) >= FEW or _departs(after, normal):
        return abs(_middle(after) - normal.value)
    way = 1 if _middle(after) > normal.value else -1
    return min(way * (value - normal.value) for value in after)


def _departs(after: Sequence[float], normal: Normal) -> bool:
    """Say whether three days or more lead away from the normal value, each by a part of the way."""
    if len(after) < _FEWEST_FALLING:
        return False
    way = 1 if after[-1] > normal.value else -1
    far = [0.0, *(way * (value - normal.value) for value in after)]
    parts = [b - a for a, b in pairwise(far)]
    return min(parts) > 0 and max(parts) <= _ONE_PART * far[-1]


def _quiet(normal: Normal) -> bool:
    return 100 * normal.spread <= QUIET_PCT * normal.value


def _for_good(after: Sequence[float], normal: Normal) -> bool:
    """Say whether days lie apart from every normal one, and the farther the fewer they are.

    One odd day is no change, nor are two on a host that has had such days.
    """
    lower = _middle(after) < normal.value
    beyond = sum(value < normal.low if lower else value > normal.high for value in after)
    if len(after) < FEW:
        far = abs(_middle(after) - normal.value) >= FAR * normal.farthest
        enough = len(after) > (1 if _quiet(normal) else 3)
        apart = beyond >= len(after) - _departs(after, normal)
        return enough and apart and far
    return beyond >= len(after) - len(after) // 5


def _began(days: Sequence[Day], at: int, normal: Normal) -> int:
    """Return where a decline began: it has left the middle before it is beyond the edge."""
    way = 1 if days[-1].value > normal.value else -1
    while at > LEAST and _on_the_way(days[at - 1].value, days[at].value, normal, way):
        at -= 1
    return at


def _on_the_way(before: float, after: float, normal: Normal, way: int) -> bool:
    return way * (after - before) > 0 and way * (before - normal.value) > normal.spread / 2


def _shift(days: Sequence[Day], at: int, normal: Normal) -> Shift:
    after = [day.value for day in days[at:]]
    falling = days[at].setting == days[at - 1].setting and _falls(after, normal)
    if falling:
        at = _began(days, at, normal)
        after = [day.value for day in days[at:]]
    now = after[-1] if falling else _middle(after)
    error = 1.96 * normal.error(1 if falling else len(after)) * 100 / normal.value
    pct = 100 * (now / normal.value - 1)
    return Shift(
        kind="decline" if falling else "step",
        since=days[at].date,
        days=len(after),
        normal=normal.value,
        now=now,
        pct=pct,
        pct_low=pct - error,
        pct_high=pct + error,
        pct_a_day=pct / len(after) if falling else None,
        setting_changed=days[at].setting != days[at - 1].setting,
    )


def _falls(after: Sequence[float], normal: Normal) -> bool:
    """Tell a decline from a step: most of the way lies within the days, and goes one way."""
    if len(after) < _FEWEST_FALLING:
        return False
    whole = after[-1] - normal.value
    half = len(after) // 2
    inner = median(after[-half:]) - median(after[:half])
    if len(after) < FEW:
        return _departs(after, normal)
    return inner * whole > 0 and abs(inner) >= _FALLING * abs(whole) * half / len(after)
