"""Kept or not: the keep rule applied to two sets of runs, with what they could not have shown; pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.experiment.record import Judged, Measured
from bot.narrator.gained import changed, instead, within
from tools.change import KeepRule
from tools.measure.difference import Difference, differences
from tools.measure.drift import drift

# The figures of each goal, by how their names begin (tools/measure/runs.py), the most telling first.
_AGAIN = "prefill of a repeated prompt"  # measured where the change is about the prefix cache
_GOALS = {
    "decode": ("step with", "token after token"),
    "prefill": (_AGAIN, "cold prefill"),
    "ttft": (_AGAIN, "first token"),
    "throughput": ("output rate", "step with"),
}
WORDS = {
    "decode": "decode",
    "prefill": "prefill",
    "ttft": "time to first token",
    "throughput": "throughput",
}
_SHARE = 0.5  # of a change: more drift than that within one set could have made it


def judged(rule: KeepRule, before: Measured, after: Measured) -> Judged:
    """Judge; what cannot be told from noise, or from drift, is not kept."""
    if (said := _said_at_once(rule, after)) is not None:
        return said
    found = differences(before.figures, after.figures)
    goal = goal_of(rule, found)
    if not goal:
        what = WORDS[rule.goal]
        return Judged(
            kept=False, why=f"No figure of {what} was measured in both, so nothing is shown."
        )
    best = max(goal, key=lambda one: gains(one)[1])
    gain, smallest = gains(best), round(best.smallest_pct, 1)
    told = {"gain_pct": gain, "smallest_pct": smallest}
    if worse := _worse(rule, found):
        return Judged(kept=False, why=f"{_told(worse)}.", **told)
    if best.differs and gain[1] > rule.better_pct:
        if drifts := _drifting(best, before, after):
            return Judged(kept=False, why=drifts, **told)
        return Judged(kept=True, why=f"{_told(best)}.", **told)
    return Judged(kept=False, why=_said_nothing(best, rule, smallest), **told)


def _said_at_once(rule: KeepRule, after: Measured) -> Judged | None:
    """Return what no figure decides: a load that failed, or a change that takes an earlier one back."""
    if after.errors or after.trouble:
        what = "the load failed" if after.errors else "it could not be measured"
        return Judged(kept=False, why=f"With the change {what}: {after.trouble}.")
    if rule.anyway:
        return Judged(kept=True, why="It takes an earlier change back, as was asked for.")
    return None


def goal_of(rule: KeepRule, found: Sequence[Difference]) -> list[Difference]:
    """Return the figures by which the goal is judged."""
    for begins in _GOALS[rule.goal]:
        if some := [one for one in found if one.name.startswith(begins)]:
            return some
    return []


def more_is_better(name: str) -> bool:
    """Say so of rates; times are better when they are shorter."""
    return name.endswith("tok/s")


def gains(one: Difference) -> tuple[float, float, float]:
    """Return the gain in percent of the rate, low, middle, high: a time that halves doubles it."""
    changes = (one.low_pct, one.change_pct, one.high_pct)
    if more_is_better(one.name):
        return _rounded(changes)
    return _rounded([(1 / (1 + change / 100) - 1) * 100 for change in reversed(changes)])


def _rounded(values: Sequence[float]) -> tuple[float, float, float]:
    low, middle, high = (round(value, 2) for value in values)
    return low, middle, high


def _worse(rule: KeepRule, found: Sequence[Difference]) -> Difference | None:
    """Return the figure that became worst, by more than is allowed and more than chance makes."""
    some = [one for one in found if one.differs and -gains(one)[1] > rule.worse_pct]
    return min(some, key=lambda one: gains(one)[1]) if some else None


def _drifting(best: Difference, before: Measured, after: Measured) -> str:
    """Say which set moved by itself, so much that the change may be that."""
    for what, one in (("before", before), ("after", after)):
        moved = drift(one.figures[best.name])
        if moved is not None and abs(moved) > _SHARE * abs(best.change_pct):
            return (
                f"{_named(best)} drifted by {_signed(moved)} % within the runs {what} the change, so"
                f" {_signed(best.change_pct)} % between both shows nothing."
            )
    return ""


def _said_nothing(best: Difference, rule: KeepRule, smallest: float) -> str:
    if best.differs:
        return f"{_told(best)}, and {rule.better_pct:g} % is asked for."
    runs = f"{best.runs[0]} and {best.runs[1]} runs"
    return f"No difference is shown: {runs} would have shown {smallest:g} % in {_named(best, low=True)}."


def _told(one: Difference) -> str:
    """Write "Step with one stream is better: 15.0 ms instead of 20.0 ms (−25.0 %, −26.1 to −23.9 %)"."""
    unit = one.name.partition(", ")[2]
    word = "better" if gains(one)[1] > 0 else "worse"
    by = f"{changed(one.change_pct, unit)}, {within(one.low_pct, one.change_pct, one.high_pct, unit)}"
    return f"{_named(one)} is {word}: {instead(one.a, one.b, unit)} ({by})"


def _named(one: Difference, *, low: bool = False) -> str:
    name = one.name.partition(",")[0]
    return name if low else name[:1].upper() + name[1:]


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−")
