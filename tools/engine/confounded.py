"""What else changed between two runs, so that the test proves less than it seems to."""

from __future__ import annotations

from tools.engine.comparison import Run, Shift
from tools.knowledge.knobs import Knob, Side, all_knobs

_BEFORE = "before"  # the label of a run of which only that is said


def changed_too(knob: Knob, now: Run, then: Run) -> Knob | None:
    """Return another knob that stands on different sides in two runs, if there is one.

    A run that is called no more than "before" differs in every switch that the other one names.
    """
    others = (
        one for one in all_knobs() if one.id != knob.id and not set(one.causes) & set(knob.causes)
    )
    before, after = now.arm.label, then.arm.label
    if _BEFORE in (before, after):
        named = before if after == _BEFORE else after
        return next((one for one in others if one.kind == "switch" and one.side(named)), None)
    return next((one for one in others if _differ(one.side(before), one.side(after))), None)


def told_apart(first: Shift, other: Shift) -> Knob | None:
    """Return the knob in which the headings of two shifts differ, if there is one."""
    titles = (first.then.title, other.then.title)
    return next(
        (knob for knob in all_knobs() if _differ(*(knob.side(title) for title in titles))), None
    )


def _differ(one: Side | None, other: Side | None) -> bool:
    return one is not None and other is not None and one != other
