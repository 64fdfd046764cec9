"""By how much one side is faster than the other for one reason, so that reasons can be added.

Gains are natural logarithms of a ratio of rates: those of several reasons add up, and turned round
they only change their sign.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tools.physics.interval import Interval
from tools.rule import Interval as Percents

NOTHING = Interval.exactly(0.0)
_MOST_LOST_PCT = -99.0  # a rate that is lost altogether has no logarithm


@dataclass(frozen=True)
class Gain:
    """What the second side gains over the first, of decode and of reading cold prompts.

    None: not known. Positive: the second is faster.
    """

    decode: Interval | None = None
    prefill: Interval | None = None

    @property
    def most(self) -> float:
        """Return the larger of the two, whoever has it."""
        return max((abs(one.mid) for one in (self.decode, self.prefill) if one), default=0.0)

    def turned(self) -> Gain:
        """Return it with the sides changed."""
        return Gain(
            turned(self.decode) if self.decode else None,
            turned(self.prefill) if self.prefill else None,
        )


def turned(gain: Interval) -> Interval:
    """Return a gain of one side as one of the other."""
    return Interval(-gain.hi, -gain.mid, -gain.lo)


def minus(gain: Interval, other: Interval) -> Interval:
    """Return what is left of a gain; ends with ends, as errors of one model do not cancel."""
    return gain.plus(turned(other))


def added(gains: Sequence[Interval]) -> Interval:
    """Return the sum."""
    total = NOTHING
    for one in gains:
        total = total.plus(one)
    return total


def of_percents(pct: Percents) -> Interval:
    """Return a change of a rate in percent as a gain."""
    return Interval(*(math.log1p(max(part, _MOST_LOST_PCT) / 100) for part in pct))


def percents(gain: Interval) -> Interval:
    """Return a gain as a change of the rate in percent."""
    return Interval(*(math.expm1(part) * 100 for part in gain))


def mean(gains: Sequence[Interval]) -> Interval | None:
    """Return the mean of gains, end by end; None of none."""
    if not gains:
        return None
    return Interval(*(sum(parts) / len(gains) for parts in zip(*gains, strict=True)))


def parted(gain: Interval, floor: float) -> bool:
    """Say whether a gain is more than chance: its interval parts from nothing, and it is no trifle."""
    return gain.lo * gain.hi > 0 and abs(gain.mid) >= floor
