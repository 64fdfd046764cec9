"""Whether two sets of runs differ: by how much, how sure, and what they could not have shown.

Welch's test on the logarithms of the runs, for speeds differ by factors. A run counts once: the requests
within it share its moment, and so are no repeats. Chances are shared between the figures that are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import mean, variance
from typing import Any

from tools.measure.student import quantile, spread_at_most

MISTAKEN = 0.02  # of two alike sets, so many are called different by any of their figures
FOUND = 0.975  # of true changes of the size that is asked about, so many are found
SOUGHT_PCT = 5.0
CAUTION = 0.9  # confidence that the spread is not taken too small when repeats are asked for
MOST_RUNS = 2000


@dataclass(frozen=True)
class Difference:
    """One figure in both sets. Changes are of B against A, in percent."""

    name: str
    a: float
    b: float
    runs: tuple[int, int]
    spread_pct: float  # standard deviation between runs of one set
    change_pct: float
    low_pct: float  # the interval in which the true change lies
    high_pct: float
    differs: bool
    smallest_pct: float  # the change that this many runs would have shown
    runs_for_5_pct: int | None  # of each; None: more than MOST_RUNS

    def as_json(self) -> dict[str, Any]:
        """Return it as the report prints it."""
        return {
            "name": self.name,
            "a": self.a,
            "b": self.b,
            "runs": list(self.runs),
            "spread_pct": round(self.spread_pct, 2),
            "change_pct": [round(one, 2) for one in (self.low_pct, self.change_pct, self.high_pct)],
            "differs": self.differs,
            "smallest_pct": round(self.smallest_pct, 2),
            "runs_for_5_pct": self.runs_for_5_pct,
        }


Figures = Mapping[str, Sequence[float]]  # of each run, by name; all above zero


def differences(a: Figures, b: Figures) -> tuple[Difference, ...]:
    """Compare every figure that both sets have twice at least; none where there are too few runs."""
    names = [name for name in a if len(a[name]) > 1 and len(b.get(name, ())) > 1]
    return tuple(_difference(name, a[name], b[name], MISTAKEN / len(names)) for name in names)


def runs_needed(spread: float, df: int, mistaken: float) -> int | None:
    """Return how many runs of each show SOUGHT_PCT, at a spread (of logarithms) known from df + 2 runs."""
    wide, sought = spread * spread_at_most(df, CAUTION), _log_of_pct(SOUGHT_PCT)
    few, many = 1, MOST_RUNS + 1
    while many - few > 1:
        runs = (few + many) // 2
        enough = _reach(2 * runs - 2, mistaken) * wide * sqrt(2 / runs) <= sought
        few, many = (few, runs) if enough else (runs, many)
    return many if many <= MOST_RUNS else None


def _log_of_pct(pct: float) -> float:
    """Return a change in percent as a difference of logarithms."""
    return log(1 + pct / 100)


def _difference(name: str, a: Sequence[float], b: Sequence[float], mistaken: float) -> Difference:
    one, other = [log(value) for value in a], [log(value) for value in b]
    parts = variance(one) / len(one), variance(other) / len(other)
    error, change = sqrt(sum(parts)), mean(other) - mean(one)
    df = _welch(parts, (len(one), len(other)))
    pooled = len(one) + len(other) - 2
    spread = sqrt((variance(one) * (len(one) - 1) + variance(other) * (len(other) - 1)) / pooled)
    wide = quantile(1 - mistaken / 2, df) * error
    return Difference(
        name=name,
        a=exp(mean(one)),
        b=exp(mean(other)),
        runs=(len(one), len(other)),
        spread_pct=_pct(spread),
        change_pct=_pct(change),
        low_pct=_pct(change - wide),
        high_pct=_pct(change + wide),
        differs=abs(change) > wide,
        smallest_pct=_pct(_reach(df, mistaken) * error),
        runs_for_5_pct=runs_needed(spread, pooled, mistaken),
    )


def _welch(parts: tuple[float, float], runs: tuple[int, int]) -> float:
    total = sum(parts)
    if total == 0:
        return float(sum(runs) - 2)
    return total**2 / sum(
        part**2 / (count - 1) for part, count in zip(parts, runs, strict=True) if part
    )


def _reach(df: float, mistaken: float) -> float:
    """Return how many standard errors a change must have to be found."""
    return quantile(1 - mistaken / 2, df) + quantile(FOUND, df)


def _pct(logarithm: float) -> float:
    return (exp(min(logarithm, 20.0)) - 1) * 100
