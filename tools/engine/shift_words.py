"""A shift in words: what was measured, from how much to how much."""

from __future__ import annotations

from collections.abc import Sequence

from tools.engine.comparison import Shift
from tools.engine.trial import Figure
from tools.knowledge.knobs import Knob

_TIMES = {
    "ttft": "the time to the first token",
    "itl": "the gap between tokens",
    "load": "the time to load",
    "total": "the time of the whole run",
    "kernel": "the time of the kernel",
}
_RATES = {"total": "throughput"}


def nothing_moved(knob: Knob, found: Sequence[Shift]) -> str:
    """Say what a change of a knob did where it made nothing faster."""
    largest = max(found, key=lambda one: abs(one.gain))
    if largest.gain < 0 and not largest.still:
        return f"a test shows that changing {knob.title} makes it slower: {name_of(largest)} {pair_of(largest)}"
    return f"a test shows that changing {knob.title} moves nothing: {name_of(largest)} {pair_of(largest)}"


def name_of(shift: Shift) -> str:
    """Name the quantity of a shift."""
    what, _, tail = shift.of.partition(",")
    known = _TIMES.get(what, "the time") if shift.unit == "ms" else _RATES.get(what, what)
    name = "the rate of copies" if shift.unit == "GB/s" else known or "the rate"
    at = f" at {shift.at}" if shift.at else ""
    return f"{name}{' of the slowest' if tail else ''}{at}"


def pair_of(shift: Shift) -> str:
    """Tell both figures of a shift, or the change alone where only that was written down."""
    old, new = shift.figures
    if old is None:
        return f"what it was by {new.value:+g} %"
    return f"{_shown(old)} to {_shown(new)}"


def _shown(figure: Figure) -> str:
    value, unit = (
        (figure.value / 1000, "s")
        if figure.unit == "ms" and figure.value >= 1000
        else (figure.value, figure.unit)
    )
    spread = f" ± {figure.spread:g}" if figure.spread and unit == figure.unit else ""
    return f"{value:.4g}{spread} {unit}"
