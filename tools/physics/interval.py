"""A number with what it may be: low, middle, high."""

from __future__ import annotations

from typing import NamedTuple


class Interval(NamedTuple):
    """Low, middle and high of one quantity; a plain tuple of three to whoever wants one."""

    lo: float
    mid: float
    hi: float

    @classmethod
    def exactly(cls, value: float) -> Interval:
        """Return a value that is known."""
        return cls(value, value, value)

    @classmethod
    def around(cls, value: float, *, down: float, up: float) -> Interval:
        """Return a value that may be lower by the share `down` or higher by the share `up`."""
        ends = sorted((value * (1 - down), value * (1 + up)))
        return cls(ends[0], value, ends[1])

    def plus(self, other: Interval) -> Interval:
        """Return the sum, ends with ends: errors of one model do not cancel."""
        return Interval(self.lo + other.lo, self.mid + other.mid, self.hi + other.hi)

    def rounded(self, digits: int = 1) -> Interval:
        """Return the interval as it is printed."""
        return Interval(round(self.lo, digits), round(self.mid, digits), round(self.hi, digits))
