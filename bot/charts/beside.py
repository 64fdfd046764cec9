"""Before and after: by how much each figure of two sets of runs differs, and within what bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.charts import canvas
from bot.charts.canvas import BLUE, FAINT, GREEN, INK, SIZE, SMALL, VERMILION
from tools.harmless import harmless
from tools.measure.difference import Difference

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW_IN, _BELOW_IN, _ABOVE_IN = 0.8, 0.8, 0.35
_SHOWN = 8
_LETTERS = 21


def beside_png(found: Sequence[Difference]) -> bytes | None:
    """Draw the change of each figure from A to B with its interval; None without matplotlib."""
    shown, title = found[:_SHOWN], beside_title(found)
    rows, head = _ROW_IN * len(shown), canvas.head_in(title)
    high = head + _ABOVE_IN + rows + _BELOW_IN

    def draw(figure: Figure) -> None:
        canvas.headed(figure, title)
        _changes(figure.add_axes((0.335, _BELOW_IN / high, 0.63, rows / high)), shown)

    return canvas.png(high, draw)


def beside_title(found: Sequence[Difference]) -> str:
    """Say whether they differ, and by how much."""
    differing = [one for one in found if one.differs]
    if not differing:
        least = max(one.smallest_pct for one in found)
        return f"No difference is shown; {least:.1f} % would have been seen"
    words = "; ".join(
        f"{_name(one)} {canvas.minus(f'{one.change_pct:+.1f}')} %" for one in differing[:2]
    )
    more = f", and {len(differing) - 2} more" if len(differing) > 2 else ""
    return f"From A to B: {words}{more}"


def beside_alt(a: str, b: str, found: Sequence[Difference]) -> str:
    """Tell the same in words, for who cannot see the picture."""
    told = "; ".join(
        f"{harmless(one.name)}: {_values(one)}, {_pct(one)} ({'differs' if one.differs else 'not shown to differ'})"
        for one in found
    )
    runs = found[0].runs
    said = f"A is {harmless(a)} in {runs[0]} runs, B is {harmless(b)} in {runs[1]}. {told}."
    return f"{beside_title(found)}. {said}"[: canvas.ALT]


def _changes(axes: Axes, found: Sequence[Difference]) -> None:
    ends = [abs(end) for one in found for end in (one.low_pct, one.high_pct)]
    wide = max(*ends, 1.0) * 1.35
    axes.axvline(0, color=FAINT, lw=1.5)
    for row, one in enumerate(found):
        colour, mark = _look(one)
        reach = [[one.change_pct - one.low_pct], [one.high_pct - one.change_pct]]
        axes.errorbar(one.change_pct, row, xerr=reach, fmt=mark, color=colour, ms=10, elinewidth=3, capsize=6,
                      mec=canvas.PAPER, zorder=3)  # fmt: skip
        at, side = _over(one.change_pct, wide)
        axes.text(at, row - 0.22, _values(one), ha=side, va="bottom", color=INK, size=SIZE)
    axes.set_xlim(-wide, wide)
    axes.xaxis.set_major_formatter(lambda value, _: canvas.minus(f"{value:+g}") if value else "0")
    axes.locator_params(axis="x", nbins=5)
    canvas.plain(axes, "change from A to B, %")
    canvas.named(axes, [one.name for one in found], _LETTERS)
    axes.set_ylim(len(found) - 0.5, -0.75)
    axes.grid(axis="x", color=canvas.REST, lw=0.5, alpha=0.6)
    for at, told, side in ((0.0, "◀ smaller in B", "left"), (1.0, "larger in B ▶", "right")):
        axes.text(
            at, 1.02, told, transform=axes.transAxes, ha=side, va="bottom", color=FAINT, size=SMALL
        )


def _over(change_pct: float, wide: float) -> tuple[float, str]:
    """Return where the values of a row stand: over its mark, and within the axes."""
    if abs(change_pct) < wide / 2:
        return change_pct, "center"
    return (wide, "right") if change_pct > 0 else (-wide, "left")


def _look(one: Difference) -> tuple[str, str]:
    """Return colour and mark: better, worse, or not shown to differ."""
    if not one.differs:
        return BLUE, "o"
    more_is_better = one.name.endswith("tok/s")
    better = (one.change_pct > 0) == more_is_better
    return (GREEN, "^") if better else (VERMILION, "v")


def _values(one: Difference) -> str:
    return f"{one.a:,.1f} → {one.b:,.1f}"


def _pct(one: Difference) -> str:
    return canvas.minus(f"{one.change_pct:+.1f} % ({one.low_pct:+.1f} to {one.high_pct:+.1f})")


def _name(one: Difference) -> str:
    return harmless(one.name.partition(",")[0])
