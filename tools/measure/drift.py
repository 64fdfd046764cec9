"""Whether the runs of one set move by themselves, from the first to the last."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, sqrt
from statistics import mean

from tools.measure.student import quantile

MISTAKEN = 0.02  # of sets that stand still, so many are called drifting
_FEWEST = 4  # runs; of three a line always lies near


def drift(values: Sequence[float]) -> float | None:
    """Return the change from the first to the last run in percent; None: no more than chance makes.

    The slope of a straight line through the logarithms of the runs, by Student's test.
    """
    if len(values) < _FEWEST:
        return None
    logs, places = [log(value) for value in values], range(len(values))
    middle, level = mean(places), mean(logs)
    spread = sum((place - middle) ** 2 for place in places)
    slope = (
        sum((place - middle) * (one - level) for place, one in zip(places, logs, strict=True))
        / spread
    )
    left = sum(
        (one - level - slope * (place - middle)) ** 2
        for place, one in zip(places, logs, strict=True)
    )
    error = sqrt(left / (len(values) - 2) / spread)
    if abs(slope) <= quantile(1 - MISTAKEN / 2, len(values) - 2) * error or slope == 0:
        return None
    return (exp(slope * (len(values) - 1)) - 1) * 100
