"""What is normal: the middle of earlier values and how widely they lie, robust against odd days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, sqrt
from statistics import median

_OF_MAD = 1.4826  # from the median absolute deviation to a standard deviation, of normal values
_MOST_ALIKE = 0.9
_LEAST_PCT = 0.5  # of the middle: two readings of one server differ by that much by themselves


@dataclass(frozen=True)
class Normal:
    """`spread` is like a standard deviation; `low` and `high` are the ends that were seen."""

    value: float
    spread: float
    low: float
    high: float
    days: int
    memory: float  # by how much what days have in common widens the error of a mean; 1: nothing

    @classmethod
    def of(cls, values: Sequence[float]) -> Normal:
        """Learn it from some values above zero.

        The spread is the largest of three: by the median absolute deviation, by the range that as
        many normal values would have, and the least that readings differ by.
        """
        middle = median(values)
        mad = _OF_MAD * median(abs(value - middle) for value in values)
        by_range = (max(values) - min(values)) / _range(len(values))
        spread = max(mad, by_range, middle * _LEAST_PCT / 100)
        memory = _memory([value - middle for value in values], spread)
        return cls(middle, spread, min(values), max(values), len(values), memory)

    @property
    def farthest(self) -> float:
        """Return how far from the middle a normal value has been."""
        return max(self.high - self.value, self.value - self.low)

    def error(self, days: int) -> float:
        """Return the standard error of the mean of so many days against this."""
        return self.spread * self.memory * sqrt(1 / days + 1 / self.days)


def _range(count: int) -> float:
    """Return the expected range of so many normal values, in standard deviations.

    Within 3 % of the exact values for 5 to 60 (2.33, 3.08 at 10, 3.73 at 20, 4.09 at 30, 4.64 at 60).
    """
    return 1.37 + 0.80 * log(count) if count > 1 else 1.0


def _memory(rests: Sequence[float], spread: float) -> float:
    """Return sqrt((1 + r) / (1 - r)) of a series whose neighbours correlate by r.

    r from few values is too low by (1 + 3 r) / n on the average (Kendall 1954, Biometrika 41).
    """
    kept = [max(-3 * spread, min(3 * spread, rest)) for rest in rests]
    power = sum(one * one for one in kept)
    if power <= 0:
        return 1.0
    common = sum(a * b for a, b in pairwise(kept)) / power
    r = min(_MOST_ALIKE, max(0.0, common + (1 + 3 * common) / len(kept)))
    return sqrt((1 + r) / (1 - r))
