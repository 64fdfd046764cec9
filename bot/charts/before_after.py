"""One change before and after: every run as a dot, the means as lines, each figure on a scale of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from textwrap import shorten
from typing import TYPE_CHECKING

from bot.charts import canvas
from bot.charts.canvas import BLUE, FAINT, INK, PAPER, SIZE, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 4  # figures in one picture
_LETTERS = 54  # of a figure's name and what is said of it, side by side
_PANEL_IN, _AXES_IN, _ABOVE_IN, _BELOW_IN, _LEGEND_IN = 1.2, 0.55, 0.32, 0.1, 0.35


@dataclass(frozen=True)
class Beside:
    """One figure in both sets; `told` is what is said of it: "+12 %"."""

    name: str
    before: Sequence[float]
    after: Sequence[float]
    told: str


def before_after_png(title: str, figures: Sequence[Beside]) -> bytes | None:
    """Draw it; None without matplotlib, or where nothing was measured in both."""
    panels = figures[:_MOST]
    if not panels:
        return None
    head = canvas.head_in(title) + _LEGEND_IN
    high = head + _PANEL_IN * len(panels) + _BELOW_IN

    def draw(figure: Figure) -> None:
        canvas.headed(figure, title)
        for place, panel in enumerate(panels):
            top = head + place * _PANEL_IN
            below = 1 - (top + _ABOVE_IN + _AXES_IN) / high
            _draw(figure.add_axes((0.14, below, 0.8, _AXES_IN / high)), panel)
        handles, names = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="upper left", ncols=2, frameon=False, fontsize=SMALL,
                      bbox_to_anchor=(0.14, 1 - (head - _LEGEND_IN - 0.08) / high))  # fmt: skip

    return canvas.png(high, draw)


def before_after_alt(title: str, figures: Sequence[Beside]) -> str:
    """Tell the same in words, for who cannot see the picture."""
    said = [
        f"{one.name}: {canvas.number(mean(one.before))} in {len(one.before)} runs before,"
        f" {canvas.number(mean(one.after))} in {len(one.after)} with the change, {one.told}."
        for one in figures
    ]
    return " ".join([f"{title.rstrip('.')}.", *said])[: canvas.ALT]


def _draw(axes: Axes, panel: Beside) -> None:
    rows = (
        (1, panel.before, FAINT, "o", "as it was"),
        (0, panel.after, BLUE, "D", "with the change"),
    )
    for row, values, colour, mark, name in rows:
        axes.scatter(values, [row] * len(values), color=colour, marker=mark, s=38, alpha=0.75,
                     lw=0, label=name, zorder=3)  # fmt: skip
        axes.plot([mean(values)] * 2, [row - 0.38, row + 0.38], color=colour, lw=3, zorder=2)
    every = [*panel.before, *panel.after]
    wide = max(max(every) - min(every), 0.02 * max(every))
    axes.set_xlim(min(every) - 0.12 * wide, max(every) + 0.12 * wide)
    axes.set_ylim(-0.7, 1.7)
    axes.set_yticks([1, 0], ["before", "after"], color=INK, size=SMALL)
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(lambda value, _: canvas.number(value))
    canvas.plain(axes, "")
    axes.spines["left"].set_visible(False)
    name = shorten(panel.name, _LETTERS - len(panel.told), placeholder=" …")
    axes.set_title(name, loc="left", color=INK, size=SIZE, pad=4, parse_math=False)
    axes.set_title(panel.told, loc="right", color=INK, size=SIZE, pad=4, weight="bold")
    axes.set_facecolor(PAPER)
