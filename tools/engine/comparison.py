"""One knob in the trials of a note: which runs stand on which side, and what the better side gains."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tools.engine.trial import RATES, Arm, Figure, Trial
from tools.knowledge.knobs import Knob, Side, age

MOVED = 0.05  # of the rate: two starts of one build differ by 2 % or so
OTHERWISE = "otherwise"  # the side of a run that says only that it is the one before the change
STILL = 0.03  # a smaller difference moves nothing
_NEUTRAL = re.compile(
    r"\bwithout\b|baseline|\bdefault|\bstock\b|\bbefore\b|\bafter\b|remov\w+|\bunset\b|\bdropped\b|\bnone\b"
    r"|as (?:is|it was|deployed)|unchanged"
    r"|\bplain\b|^\W*(?:off|on|with|no|yes|normal|control|other\w*|any other.*)\W*$"
    r"|^\W*(?:bench\w*|results?|run|base\w*|ref\w*|first|old|serving)(?: \d+)?\W*$",
    re.IGNORECASE,
)
_IN_USE = re.compile(
    r"\b(?:current(?:ly)?|today|now|ours?|in prod\w*|production|as (?:is|deployed)|what (?:the|we|users)"
    r"|live|existing|at the moment)\b",
    re.IGNORECASE,
)
NEAR = 0.06  # a run is the one that the question tells of if its rate lies so near


@dataclass(frozen=True)
class Run:
    """One run, and the side on which the knob stood in it."""

    side: Side
    arm: Arm
    at: str
    title: str


@dataclass(frozen=True)
class Shift:
    """What one quantity does when the knob goes from the side at fault to the better one.

    `gain` is a share: 0.25 is a rate, or the inverse of a time, that is higher by a quarter.
    """

    gain: float
    sure: bool  # beyond what repeated runs differ by, or what starts of one build do
    still: bool  # no more than that
    of: str
    unit: str
    at: str
    now: Run | None  # None: the change was told, not the figure before it
    then: Run
    figures: tuple[Figure | None, Figure]


def runs_of(trials: Sequence[Trial], knob: Knob) -> list[Run]:
    """Return the runs of which it is told where the knob stands, in the label or in the heading.

    Where one run says it and another says "without", "before" or "default", that one is the other side.
    """
    runs: list[Run] = []
    for trial in trials:
        heading = knob.side(trial.title) if trial.title else None
        sides = [knob.side(arm.label, trial.title) for arm in trial.arms]
        told = {side for side in sides if side is not None}
        other = _other(knob, told)
        for arm, side in zip(trial.arms, sides, strict=True):
            stands = (
                side
                if side is not None
                else other
                if other and _NEUTRAL.search(arm.label)
                else None
            )
            if stands is not None:
                runs.append(Run(stands, arm, arm.at, trial.title))
            elif not told and heading is not None:
                runs.append(Run(heading, arm, arm.at, ""))
    return runs


def _other(knob: Knob, told: set[Side]) -> Side | None:
    if len(told) != 1:
        return None
    (side,) = told
    if knob.kind == "switch":
        return "off" if side == "on" else "on"
    return "old" if knob.kind == "order" and side != "old" else OTHERWISE


def in_use(
    trials: Sequence[Trial], knob: Knob, runs: Sequence[Run], claimed_tok_s: float | None
) -> Side | None:
    """Return the side that is said to be in use, or whose rate the question tells; None if neither is."""
    said = {run.side for run in runs if _IN_USE.search(run.arm.label)}
    remarks = [one for trial in trials for one in trial.remarks if _IN_USE.search(one)]
    said |= {side for one in remarks if (side := knob.side(one)) is not None}
    if not said and claimed_tok_s:
        said = {
            run.side for run in runs if any(_near(one, claimed_tok_s) for one in run.arm.figures)
        }
    return said.pop() if len(said) == 1 else None


def _near(figure: Figure, claimed_tok_s: float) -> bool:
    return figure.unit == "tok/s" and abs(figure.value / claimed_tok_s - 1) <= NEAR


def at_fault(knob: Knob, runs: Sequence[Run], using: Side | None) -> Side:
    """Return the side that is at fault if it is slower: by what is in use, else by the nature of the knob."""
    if knob.kind == "switch":
        return knob.ails
    sides = list(dict.fromkeys(run.side for run in runs))
    if knob.kind == "order":
        return max((str(side) for side in sides), key=age)
    numbers = [side for side in sides if isinstance(side, float)]
    if OTHERWISE not in sides and numbers:
        return _level_at_fault(knob, numbers, using)
    return next((side for side in (OTHERWISE, using) if side in sides), sides[0])


def _level_at_fault(knob: Knob, numbers: Sequence[float], using: Side | None) -> float:
    if isinstance(using, float):
        return min(numbers, key=lambda side: abs(side - using))
    return {"high": max(numbers), "low": min(numbers)}.get(knob.ails, numbers[0])


def shifts(knob: Knob, runs: Sequence[Run], fault: Side) -> list[Shift]:
    """Return what each quantity does, the largest gain first; quantities are compared under one condition."""
    groups: dict[tuple[str, str, str], list[tuple[Run, Figure]]] = {}
    for run in runs:
        for figure in run.arm.figures:
            groups.setdefault((figure.unit, figure.of, f"{run.title}\0{run.at}"), []).append(
                (run, figure)
            )
    found = []
    for (unit, of, place), group in groups.items():
        at = place.split("\0")[1]
        shift = (
            _changed(knob, unit, of, at, group, fault)
            if unit == "%"
            else _shift(knob, unit, of, at, group, fault)
        )
        if shift:
            found.append(shift)
    return sorted(found, key=lambda one: -one.gain)


def _shift(
    knob: Knob, unit: str, of: str, at: str, group: Sequence[tuple[Run, Figure]], fault: Side
) -> Shift | None:
    before = [(run, figure) for run, figure in group if run.side == fault]
    after = [
        (run, figure)
        for run, figure in group
        if run.side != fault and _mends(knob, run.side, fault)
    ]
    if not before or not after:
        return None
    best = max if unit in RATES else min
    (now, old), (then, new) = (best(part, key=lambda one: one[1].value) for part in (before, after))
    if min(old.value, new.value) <= 0:
        return None
    gain = (new.value / old.value if unit in RATES else old.value / new.value) - 1
    sure, still = _beyond(old, new, gain)
    return Shift(gain, sure, still, of, unit, at, now, then, (old, new))


def _changed(
    knob: Knob, unit: str, of: str, at: str, group: Sequence[tuple[Run, Figure]], fault: Side
) -> Shift | None:
    """Take a change that was told by itself, against the run that nobody wrote down."""
    mends = [(run, one) for run, one in group if knob.kind != "switch" or run.side != fault]
    if not mends:
        return None
    then, told = max(mends, key=lambda one: abs(one[1].value))
    gain = told.value / 100
    return Shift(
        gain, abs(gain) >= MOVED, abs(gain) < STILL, of, unit, at, None, then, (None, told)
    )


def _mends(knob: Knob, side: Side, fault: Side) -> bool:
    """Say whether a side lies where the knob would have to go."""
    if isinstance(side, float) and isinstance(fault, float):
        return (
            (side > fault)
            if knob.ails == "low"
            else (side < fault)
            if knob.ails == "high"
            else True
        )
    return knob.kind != "order" or age(str(side)) < age(str(fault))


def _beyond(old: Figure, new: Figure, gain: float) -> tuple[bool, bool]:
    """Say whether two figures differ for sure, and whether they do not differ."""
    if old.spread is not None and new.spread is not None:
        apart = abs(new.value - old.value)
        noise = old.spread + new.spread
        return apart > noise and abs(gain) >= STILL, apart <= noise or abs(gain) < STILL
    return abs(gain) >= MOVED, abs(gain) < STILL


def contradicted(found: Sequence[Shift]) -> bool:
    """Say whether the same quantity gets worse under another condition as much as it gets better here."""
    first = found[0]
    return any(
        (one.unit, one.of) == (first.unit, first.of) and one.sure and one.gain < 0
        for one in found[1:]
    )


def outcomes(runs: Sequence[Run]) -> dict[Side, bool]:
    """Return for each side whether it worked, where all its runs say the same.

    Beside a run that failed, one of which a time or a rate was written down came to its end.
    """
    failed = any(run.arm.works is False for run in runs)
    said: dict[Side, set[bool]] = {}
    for run in runs:
        works = run.arm.works
        if works is not None or (failed and run.arm.figures):
            said.setdefault(run.side, set()).add(works is not False)
    return {side: told.pop() for side, told in said.items() if len(told) == 1}
