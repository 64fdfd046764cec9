"""How far the step model is right: predicted against measured steps, one mark for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.charts.canvas import BLUE, FAINT, GREEN, INK, PAPER, REST, SMALL, VERMILION, svg
from tools.physics.interval import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TABLES = {"decode": "tuned on", "out_of_sample": "not tuned on", "checked": "looked up later"}
_MARKS = ((BLUE, "o"), (VERMILION, "D"), (GREEN, "s"))


@dataclass(frozen=True)
class Predicted:
    """One published step: what the model says, low, middle and high, and what was measured; ms."""

    table: str
    ms: Interval
    measured_ms: float


def calibration_svg(rows: Sequence[Predicted], told: str) -> bytes:
    """Draw predicted against measured steps.

    `told` goes into the file, so that a reader of it knows of which numbers it was drawn. Raises
    ImportError where matplotlib is not installed.
    """

    def draw(figure: Figure) -> None:
        _predicted(figure.add_axes((0.1, 0.1, 0.87, 0.86)), rows)

    return svg(6.4, draw, told)


def _predicted(axes: Axes, rows: Sequence[Predicted]) -> None:
    """Both axes in powers of two, the line of what is right, and twenty percent to each side of it."""
    ends = [1.8, 80.0]
    axes.plot(ends, ends, color=FAINT, lw=1)
    axes.fill_between(
        ends, [0.8 * x for x in ends], [1.2 * x for x in ends], color=REST, alpha=0.3, lw=0
    )
    for (table, name), (colour, mark) in zip(_TABLES.items(), _MARKS, strict=True):
        of = [row for row in rows if row.table == table]
        told = f"{name} ({len(of)})"
        reach = [
            [row.ms.mid - row.ms.lo for row in of],
            [row.ms.hi - row.ms.mid for row in of],
        ]
        at = [row.measured_ms for row in of]
        axes.errorbar(at, [row.ms.mid for row in of], yerr=reach, fmt=mark, color=colour,
                      ms=6, elinewidth=1, mec=PAPER, mew=0.6, label=told)  # fmt: skip
    for scale in (axes.set_xscale, axes.set_yscale):
        scale("log", base=2)
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
    axes.set_xlabel("measured, ms a decode step", color=INK, size=SMALL)
    axes.set_ylabel("predicted, ms", color=INK, size=SMALL)
    axes.grid(color=REST, lw=0.4, alpha=0.6)
    axes.legend(loc="upper left", frameon=False, fontsize=SMALL)
