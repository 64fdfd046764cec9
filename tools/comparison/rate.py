"""A rate or a time that was measured on both sides, as intervals, and whether the two part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from tools.comparison.gain import parted
from tools.physics.interval import Interval

_NORMAL_95 = 1.96
_FEWEST = 6  # samples from which on the ends of a median's 95 % interval lie within them


@dataclass(frozen=True)
class Rate:
    """One thing that was measured. Better is more, unless `time`: then it is less.

    `here` and `there` are None where it was not measured. `floor` is the share by which two runs of
    one server differ by themselves: it widens every interval. `incomparable` says why a difference means nothing.
    """

    name: str
    unit: str
    here: Interval | None
    there: Interval | None
    floor: float
    time: bool = False
    incomparable: str = ""
    looks: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def gain(self) -> Interval | None:
        """Return by how much the second side is better, as a logarithm; None where that is not known."""
        if self.incomparable or not self.here or not self.there:
            return None
        if self.here.lo <= 0 or self.there.lo <= 0:
            return None
        one, other = (self.there, self.here) if self.time else (self.here, self.there)
        mid = math.log(other.mid / one.mid)
        down = math.hypot(math.log(other.mid / other.lo), math.log(one.hi / one.mid), self.floor)
        up = math.hypot(math.log(other.hi / other.mid), math.log(one.mid / one.lo), self.floor)
        return Interval(mid - down, mid, mid + up)

    @property
    def apart(self) -> bool:
        """Say whether the two differ by more than their own spread."""
        gain = self.gain
        return gain is not None and parted(gain, self.floor)

    def turned(self) -> Rate:
        """Return it with the sides changed."""
        return Rate(
            self.name, self.unit, self.there, self.here, self.floor, self.time, self.incomparable,
            (self.looks[1], self.looks[0]),
        )  # fmt: skip


def spread(samples: Sequence[Sequence[float]]) -> Interval | None:
    """Return the median of all with its 95 % interval; each group counts once, for its lines are of one prompt.

    The interval is that of the median of a sample by its order (binomial, normal approximation); of
    few groups it is from the lowest to the highest.
    """
    every = [value for group in samples for value in group]
    if not every:
        return None
    groups = sorted(median(group) for group in samples if group)
    if len(groups) < 3:
        groups = sorted(every)
        count = 0
    else:
        count = len(groups)
    cut = int((count - _NORMAL_95 * math.sqrt(count)) / 2) if count >= _FEWEST else 0
    mid = median(every)
    return Interval(min(groups[cut], mid), mid, max(groups[len(groups) - 1 - cut], mid))
