"""Where the milliseconds go: a decode step and, below it, a chunk of a cold prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.charts import canvas
from bot.charts.canvas import BLUE, GREEN, INK, REST, SIZE, SMALL, VERMILION
from tools.harmless import harmless
from tools.physics.headroom import SLOWER, UNEXPLAINED, Headroom
from tools.physics.interval import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LETTERS = 21  # of a line of a label
_ROW_IN, _ABOVE_IN, _BELOW_IN = 0.45, 0.5, 0.72
_LEFT, _WIDE = 0.335, 0.63
_WHOLE_FROM_MS = 100.0
_NARROW = 0.2  # of the width: two figures nearer than that would run into each other


@dataclass(frozen=True)
class _Panel:
    """One thing that was measured, in ms, with its parts in order and what is possible here."""

    what: str
    ms: float
    terms: Sequence[tuple[str, Interval]]
    best: Interval

    @property
    def high_in(self) -> float:
        return _ABOVE_IN + _ROW_IN * len(self.terms) + _BELOW_IN


def waterfall_png(headroom: Headroom) -> bytes | None:
    """Draw a decode step and a chunk of prefill as they add up; None where matplotlib is missing."""
    panels, title = list(_panels(headroom)), waterfall_title(headroom)
    high = canvas.head_in(title) + sum(one.high_in for one in panels)

    def draw(figure: Figure) -> None:
        canvas.headed(figure, title)
        top = high - canvas.head_in(title)
        for panel in panels:
            rows = _ROW_IN * len(panel.terms)
            place = (_LEFT, (top - _ABOVE_IN - rows) / high, _WIDE, rows / high)
            _steps(figure.add_axes(place), panel)
            top -= panel.high_in

    return canvas.png(high, draw)


def waterfall_title(room: Headroom) -> str:
    """Say what the picture shows."""
    slow = next((one for one in room.terms if SLOWER in one[0]), None)
    if slow is None:
        name, most = max(room.terms, key=lambda term: term[1].mid)
        share = f"Decode is at {room.share_pct:.0f} % of its ceiling"
        return f"{share}; of {room.step_ms:.1f} ms a step {name} take {most.mid:.1f}"
    link, ms = slow[0].partition(SLOWER)[0], slow[1]
    said = f"{link} costs {ms.mid:.1f} of {room.step_ms:.1f} ms a decode step"
    lost = room.link_cost.prefill_pct if room.link_cost else None
    return f"{said}, and {-lost.mid:.0f} % of prefill" if lost and room.prefill_tok_s else said


def waterfall_alt(room: Headroom) -> str:
    """Tell the same in words, for who cannot see the picture."""
    said = f"{waterfall_title(room)}. " + " ".join(map(_told, _panels(room)))
    if room.prefill_tok_s and room.prefill_ceiling:
        low, middle, high = room.prefill_ceiling
        said += (
            f" Cold prefill is {room.prefill_tok_s:,.0f} tok/s of"
            f" {middle:,.0f} ({low:,.0f} to {high:,.0f}) at the ceiling."
        )
    return said[: canvas.ALT]


def _panels(room: Headroom) -> Iterator[_Panel]:
    yield _Panel("decode step", room.step_ms, room.terms, room.ceiling_step_ms)
    took, tokens = room.chunk_ms, room.chunk_tokens
    if took and tokens and room.prefill_ceiling:
        low, middle, high = (tokens / rate * 1e3 for rate in room.prefill_ceiling)
        what = f"chunk of {tokens:,} prompt tokens"
        yield _Panel(what, took, room.prefill_terms, Interval(high, middle, low))


def _told(panel: _Panel) -> str:
    terms = ", ".join(f"{harmless(name)} {_span(ms)}" for name, ms in panel.terms)
    return (
        f"Waterfall of a {panel.what} of {_figure(panel.ms)} ms: {terms}."
        f" At the ceiling of this hardware it takes {_span(panel.best)}."
    )


def _span(ms: Interval) -> str:
    low, middle, high = map(_figure, ms)
    return f"{middle} ms ({low} to {high})"


def _figure(ms: float) -> str:
    """Write a time in ms, with a decimal where it tells something."""
    return canvas.minus(f"{ms:.1f}" if abs(ms) < _WHOLE_FROM_MS else f"{ms:,.0f}")


def _steps(axes: Axes, panel: _Panel) -> None:
    """One bar for each term, each beginning where the one above it ends."""
    at, ends = 0.0, [panel.ms, panel.best.hi]
    for row, (name, ms) in enumerate(panel.terms):
        end = at + ms.mid
        colour, hatch = _look(name)
        axes.barh(row, ms.mid, left=at, height=0.66, color=colour, hatch=hatch, edgecolor=canvas.PAPER,
                  lw=0, zorder=2)  # fmt: skip
        reach = [[max(0.0, ms.mid - ms.lo)], [max(0.0, ms.hi - ms.mid)]]
        axes.errorbar(end, row, xerr=reach, color=INK, elinewidth=1, capsize=3, zorder=3)
        right = max(end + ms.hi - ms.mid, at, panel.ms)
        axes.text(right, row, f" {_figure(ms.mid)}", va="center", color=INK, size=SIZE)
        ends.append(right)
        at = end
    axes.axvspan(panel.best.lo, panel.best.hi, color=GREEN, alpha=0.15, lw=0, zorder=0)
    axes.axvline(panel.best.mid, color=GREEN, lw=1.5, ls="--", zorder=1)
    axes.axvline(panel.ms, color=INK, lw=1.5, zorder=1)
    near = abs(panel.ms - panel.best.mid) < _NARROW * max(ends)
    axes.set_xlim(0, max(max(ends) * 1.15, panel.ms * 1.3 if near else 0.0))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    canvas.plain(axes, f"ms of a {panel.what}")
    canvas.named(axes, [name for name, _ in panel.terms], _LETTERS)
    sides = ("right", "left") if near else ("center", "center")
    best, told = f"ceiling {_figure(panel.best.mid)} ", f" measured {_figure(panel.ms)}"
    axes.text(panel.best.mid, -0.62, best, ha=sides[0], color=GREEN, size=SMALL)
    axes.text(panel.ms, -0.62, told, ha=sides[1], color=INK, size=SMALL)


def _look(name: str) -> tuple[str, str | None]:
    """Return colour and hatch, so that a loss is told from the rest without colour as well."""
    if name == UNEXPLAINED:
        return REST, None
    return (VERMILION, "//") if SLOWER in name else (BLUE, None)
