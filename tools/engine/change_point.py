"""Where a noisy series changes its level for good: a rank scan within strata, with its error bounds.

Values are compared only within their stratum (the same load), so that a load that changes is no
change of the series. The statistic at each place is van Elteren's (1960): Wilcoxon's rank sums,
weighted by 1/(m+1). Its largest value is judged by the bound of Miller and Siegmund (1982,
Biometrics 38) for a maximum over all places, after the variance has been widened by what
neighbours have in common (Bartlett's window, as Newey and West 1987). The interval of the place is
that of a likelihood ratio for thresholds (Hansen 2000, Econometrica 68: -2 ln(1 - sqrt(.95)) =
7.35). All of it is n log n, and deterministic.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, exp, log, pi, sqrt
from statistics import median

P_BOUND = 5e-4  # of a change where there is none, for one series
LEAST_INFO = 3.5  # of k before and m - k after, sum of k (m - k) / m: seven against seven
P_OF_A_PART = 1e-6  # of a part: in so short a stretch memory is underrated
SHORTEST = 60  # values of a part that is searched by itself
HANSEN = 7.35
_OF_MEDIANS = 1.2533**2  # standard error of a median of medians over that of a mean
_OF_MAD = 1.4826
_Z95 = 1.96


@dataclass(frozen=True)
class Split:
    """A change between two values: `before` counts those before it, `low` to `high` is 95 %.

    `shift` is the median difference after - before within strata, with the bounds of 95 %.
    """

    before: int
    low: int
    high: int
    shift: float
    shift_low: float
    shift_high: float
    p: float
    alike: float  # how much wider the noise is than that of values without memory


@dataclass(frozen=True)
class _Scan:
    """The statistic at each place: `z[t]` and `info[t]` are of a split before value t."""

    z: list[float]
    info: list[float]


def changes(
    values: Sequence[float], strata: Sequence[Hashable], least: float, most: int = 6
) -> list[Split]:
    """Return all changes of at least `least` (in units of the values), in order of place.

    A series is searched whole; where that shows none, in halves and quarters that overlap
    (Kovacs et al. 2023, seeded binary segmentation), since a change that is taken back
    looks like noise that remembers.
    """
    found: list[Split] = []
    waiting = [(0, len(values))]
    while waiting and len(found) < most:
        begin, end = waiting.pop()
        split = _within(values, strata, least, begin, end)
        if split is not None:
            found.append(split)
            waiting += [(begin, split.before), (split.before, end)]
    return sorted(found, key=lambda one: one.before)


def _within(
    values: Sequence[float], strata: Sequence[Hashable], least: float, begin: int, end: int
) -> Split | None:
    for parts in (1, 2, 4):
        length = (end - begin) // parts
        if parts > 1 and length < SHORTEST:
            return None
        begins = [begin + number * length // 2 for number in range(2 * parts - 1)]
        told, bound = [], P_BOUND if parts == 1 else P_OF_A_PART / len(begins)
        for at in begins:
            split = change(values[at : at + length], strata[at : at + length], least, bound)
            if split is not None:
                moved = {name: getattr(split, name) + at for name in ("before", "low", "high")}
                told.append(Split(**{**vars(split), **moved}))
        if told:
            return min(told, key=lambda one: one.p)
    return None


def change(
    values: Sequence[float], strata: Sequence[Hashable], least: float, bound: float = P_BOUND
) -> Split | None:
    """Return the clearest change, or None where chance, memory or a small effect explains it."""
    scan = _scan(_scores(values, strata), strata)
    places = [t for t in range(len(values)) if scan.info[t] >= LEAST_INFO]
    if not places:
        return None
    at = max(places, key=lambda t: abs(scan.z[t]))
    if _bound(abs(scan.z[at])) > bound:  # memory can but widen it
        return None
    shift, rests = _shift(values, strata, at)
    alike = _alike(rests)
    z = abs(scan.z[at]) / sqrt(alike)
    p = _bound(z)
    if p > bound or abs(shift) < least:
        return None
    near = [t for t in places if scan.z[t] ** 2 / alike >= z * z - HANSEN and _same(scan, t, at)]
    error = _Z95 * _OF_MEDIANS * _spread(rests) * sqrt(alike / scan.info[at])
    return Split(at, min(near), max(near), shift, shift - error, shift + error, p, alike)


def shift_between(
    before: tuple[Sequence[float], Sequence[Hashable]],
    after: tuple[Sequence[float], Sequence[Hashable]],
) -> float | None:
    """Return the median difference within strata between two stretches; None if they share none."""
    if not set(before[1]) & set(after[1]):
        return None
    return _shift([*before[0], *after[0]], [*before[1], *after[1]], len(before[0]))[0]


def _same(scan: _Scan, one: int, other: int) -> bool:
    return scan.z[one] * scan.z[other] > 0


def _scores(values: Sequence[float], strata: Sequence[Hashable]) -> list[float]:
    """Return centred ranks within strata over m + 1; equal values share their rank."""
    members: dict[Hashable, list[int]] = {}
    for place, stratum in enumerate(strata):
        members.setdefault(stratum, []).append(place)
    scores = [0.0] * len(values)
    for places in members.values():
        places.sort(key=values.__getitem__)
        low = 0
        while low < len(places):
            high = low
            while high + 1 < len(places) and values[places[high + 1]] == values[places[low]]:
                high += 1
            rank = (low + high) / 2 + 1
            for place in places[low : high + 1]:
                scores[place] = (rank - (len(places) + 1) / 2) / (len(places) + 1)
            low = high + 1
    return scores


def _scan(scores: Sequence[float], strata: Sequence[Hashable]) -> _Scan:
    counts: dict[Hashable, int] = {}
    squares: dict[Hashable, float] = {}
    for score, stratum in zip(scores, strata, strict=True):
        counts[stratum] = counts.get(stratum, 0) + 1
        squares[stratum] = squares.get(stratum, 0.0) + score * score
    seen = dict.fromkeys(counts, 0)
    total = variance = known = 0.0
    z, info = [], []
    for score, stratum in zip(scores, strata, strict=True):
        z.append(-total / sqrt(variance) if variance > 1e-12 else 0.0)
        info.append(known)
        m, k = counts[stratum], seen[stratum]
        step = (m - 2 * k - 1) / m  # of k (m - k) / m when k grows by one
        total += score
        known += step
        variance += step * squares[stratum] / (m - 1) if m > 1 else 0.0
        seen[stratum] = k + 1
    return _Scan(z, info)


def _shift(
    values: Sequence[float], strata: Sequence[Hashable], at: int
) -> tuple[float, list[float]]:
    """Return the median shift over the strata, and what is left of each value without it."""
    sides: dict[Hashable, tuple[list[float], list[float]]] = {}
    for place, (value, stratum) in enumerate(zip(values, strata, strict=True)):
        sides.setdefault(stratum, ([], []))[place >= at].append(value)
    told = [
        (median(after) - median(before), len(before) * len(after) / (len(before) + len(after)))
        for before, after in sides.values()
        if before and after
    ]
    shift = _weighted_median(told)
    middle = {
        stratum: median([*before, *(value - shift for value in after)])
        for stratum, (before, after) in sides.items()
    }
    rests = [
        value - (shift if place >= at else 0.0) - middle[stratum]
        for place, (value, stratum) in enumerate(zip(values, strata, strict=True))
        if len(sides[stratum][0]) + len(sides[stratum][1]) > 2
    ]
    return shift, rests


def _weighted_median(told: Sequence[tuple[float, float]]) -> float:
    ordered = sorted(told)
    half = sum(weight for _, weight in ordered) / 2
    sums = accumulate(weight for _, weight in ordered)
    return next(
        (value for (value, _), reached in zip(ordered, sums, strict=True) if reached >= half), 0.0
    )


def _spread(rests: Sequence[float]) -> float:
    return _OF_MAD * median(abs(rest) for rest in rests) if rests else 0.0


def _alike(rests: Sequence[float]) -> float:
    """Return by how much memory widens the variance of a mean; 1 without memory, never less."""
    n = len(rests)
    if n < 8:
        return 1.0
    far = 3 * _spread(rests) or 1.0
    kept = [max(-far, min(far, rest)) for rest in rests]
    middle = sum(kept) / n
    kept = [one - middle for one in kept]
    power = sum(one * one for one in kept)
    if power <= 0:
        return 1.0
    lags = min(ceil(3 * n ** (1 / 3)), n // 3)
    wider = 1.0
    for lag in range(1, lags + 1):
        common = sum(a * b for a, b in zip(kept, kept[lag:], strict=False)) / power
        wider += 2 * (1 - lag / (lags + 1)) * common
    return max(1.0, wider)


def _bound(z: float, trim: float = 0.02) -> float:
    """Return the chance of so large a maximum by chance (Miller and Siegmund 1982, equation 1)."""
    if z < 1.5:
        return 1.0
    density = exp(-z * z / 2) / sqrt(2 * pi)
    return min(1.0, density * ((z - 1 / z) * 2 * log((1 - trim) / trim) + 4 / z))
