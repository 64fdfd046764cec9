"""matplotlib's only door: where the milliseconds of a decode step go, and how far the model is right."""

from __future__ import annotations

import atexit
import io
import os
import shutil
import tempfile
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from tools.harmless import harmless
from tools.physics.headroom import Headroom
from tools.physics.interval import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ALT = 900  # characters of an alternative text; Slack takes 1000 for a file

_INK, _FAINT, _PAPER = "#1d1c1d", "#8a8a8a", "#ffffff"  # white paper reads in a dark Slack as well
_KNOWN, _LOSS, _REST, _BEST = "#5b7fa6", "#d9603b", "#b9bec5", "#2e7d4f"
_DPI, _WIDE_IN, _ROW_IN = 110, 8.0, 0.42
_NAME = 26  # characters of a label's line
# Okabe and Ito's colours and three shapes: told apart without colour as well.
_TABLES = {"decode": "tuned on", "out_of_sample": "not tuned on", "checked": "looked up later"}
_MARKS = (("#0072b2", "o"), ("#d55e00", "D"), ("#009e73", "s"))
_LOCK = Lock()  # matplotlib's fonts and caches are not made for threads


def waterfall_png(headroom: Headroom) -> bytes | None:
    """Draw the decode step, and prefill below it where it was measured, as a PNG of about 40 kB.

    None where matplotlib is not installed (the extra "charts"). The first picture of a process
    takes a second, later ones a tenth (measured).
    """
    with _LOCK:
        _writable()
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
        except ImportError:
            return None
        drawn = _drawn(Figure(figsize=(_WIDE_IN, _height_in(headroom)), dpi=_DPI), headroom)
        out = io.BytesIO()
        FigureCanvasAgg(drawn)
        drawn.savefig(out, format="png")
        return out.getvalue()


@dataclass(frozen=True)
class Predicted:
    """One published step: what the model says, low, middle and high, and what was measured; ms."""

    table: str
    ms: Interval
    measured_ms: float


def calibration_svg(rows: Sequence[Predicted], told: str) -> bytes:
    """Draw predicted against measured steps, one mark for each row, as an SVG that never varies.

    `told` goes into the file, so that a reader of it knows of which numbers it was drawn. Raises
    ImportError where matplotlib is not installed.
    """
    with _LOCK:
        _writable()
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

        figure = Figure(figsize=(_WIDE_IN, 6.4), dpi=_DPI)
        figure.set_facecolor(_PAPER)
        _predicted(figure.add_axes((0.09, 0.1, 0.88, 0.86)), rows)
        out = io.BytesIO()
        FigureCanvasSVG(figure)
        with matplotlib.rc_context({"svg.hashsalt": "perfsleuth", "svg.fonttype": "path"}):
            figure.savefig(out, format="svg", metadata={"Date": None, "Description": told})
        return out.getvalue()


def _predicted(axes: Axes, rows: Sequence[Predicted]) -> None:
    """Both axes in powers of two, the line of what is right, and twenty percent to each side of it."""
    ends = [1.8, 80.0]
    axes.plot(ends, ends, color=_FAINT, lw=1)
    axes.fill_between(
        ends, [0.8 * x for x in ends], [1.2 * x for x in ends], color=_REST, alpha=0.3, lw=0
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
                      ms=6, elinewidth=1, mec=_PAPER, mew=0.6, label=told)  # fmt: skip
    for scale in (axes.set_xscale, axes.set_yscale):
        scale("log", base=2)
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
    axes.set_xlabel("measured, ms a decode step", color=_INK, size=11)
    axes.set_ylabel("predicted, ms", color=_INK, size=11)
    axes.grid(color=_REST, lw=0.4, alpha=0.6)
    axes.legend(loc="upper left", frameon=False, fontsize=11)


def waterfall_alt(headroom: Headroom) -> str:
    """Tell the same in words, for who cannot see the picture."""
    terms = ", ".join(f"{harmless(name)} {_told(ms)}" for name, ms in headroom.terms)
    said = (
        f"Waterfall of a decode step of {headroom.step_ms:.1f} ms: {terms}."
        f" The ceiling of this hardware is {_told(headroom.ceiling_step_ms)}."
    )
    if headroom.prefill_tok_s and headroom.prefill_ceiling:
        low, middle, high = headroom.prefill_ceiling
        said += (
            f" Cold prefill is {headroom.prefill_tok_s:,.0f} tok/s of"
            f" {middle:,.0f} ({low:,.0f} to {high:,.0f}) at the ceiling."
        )
    return said[:ALT]


def _told(ms: Interval) -> str:
    return f"{ms.mid:.1f} ms ({ms.lo:.1f} to {ms.hi:.1f})".replace("-", "−")


def _writable() -> None:
    """Give matplotlib a place for its font cache, without which each start takes five seconds."""
    if "MPLCONFIGDIR" in os.environ:
        return
    config = Path(os.environ.get("XDG_CONFIG_HOME", "~/.config")).expanduser() / "matplotlib"
    there = next(place for place in (config, *config.parents) if place.exists())
    if not (there.is_dir() and os.access(there, os.W_OK)):
        place = tempfile.mkdtemp(prefix="perfsleuth-charts-")
        atexit.register(shutil.rmtree, place, ignore_errors=True)
        os.environ["MPLCONFIGDIR"] = place


def _height_in(room: Headroom) -> float:
    return 1.6 + _ROW_IN * len(room.terms) + (1.45 if _has_prefill(room) else 0)


def _has_prefill(room: Headroom) -> bool:
    return bool(room.prefill_tok_s and room.prefill_ceiling)


def _drawn(figure: Figure, room: Headroom) -> Figure:
    figure.set_facecolor(_PAPER)
    title = f"Where the {room.step_ms:.1f} ms of a decode step go"
    figure.text(0.03, 1 - 0.32 / _height_in(room), title, color=_INK, size=11, weight="bold")
    high, rows = _height_in(room), _ROW_IN * len(room.terms)
    low = 1.45 if _has_prefill(room) else 0.0
    _steps(figure.add_axes((0.24, (low + 0.55) / high, 0.73, rows / high)), room)
    if _has_prefill(room):
        _prefill(figure.add_axes((0.24, 0.5 / high, 0.73, 0.6 / high)), room)
    return figure


def _steps(axes: Axes, room: Headroom) -> None:
    """One bar for each term, each beginning where the one above it ends."""
    at, ends = 0.0, [room.step_ms, room.ceiling_step_ms.hi]
    for row, (name, ms) in enumerate(room.terms):
        end = at + ms.mid
        axes.barh(row, ms.mid, left=at, height=0.62, color=_colour(name), zorder=2)
        reach = [[max(0.0, ms.mid - ms.lo)], [max(0.0, ms.hi - ms.mid)]]
        axes.errorbar(end, row, xerr=reach, color=_INK, elinewidth=1, capsize=3)
        right = max(end + ms.hi - ms.mid, at, room.step_ms)
        axes.text(right, row, f"  {ms.mid:.1f}".replace("-", "−"), va="center", color=_INK, size=9)
        ends.append(right)
        at = end
    axes.axvspan(
        room.ceiling_step_ms.lo, room.ceiling_step_ms.hi, color=_BEST, alpha=0.12, lw=0, zorder=0
    )
    axes.axvline(room.ceiling_step_ms.mid, color=_BEST, lw=1.2, ls="--")
    axes.axvline(room.step_ms, ymax=1.12, color=_INK, lw=1.2, clip_on=False)
    best = f"at the ceiling {room.ceiling_step_ms.mid:.1f} "
    axes.text(room.ceiling_step_ms.mid, -0.62, best, ha="right", color=_BEST, size=9)
    axes.text(room.step_ms, -1.05, f"measured {room.step_ms:.1f} ", ha="right", color=_INK, size=9)
    axes.set_xlim(0, max(ends) * 1.09)
    axes.set_ylim(len(room.terms) - 0.5, -0.5)
    _plain(axes, [name for name, _ in room.terms], "decode step, ms")


def _prefill(axes: Axes, room: Headroom) -> None:
    """What was measured on cold prompts against what this hardware can give."""
    if not (room.prefill_tok_s and room.prefill_ceiling):
        return
    low, middle, high = room.prefill_ceiling
    axes.barh(0, room.prefill_tok_s, height=0.62, color=_KNOWN)
    axes.barh(1, middle, height=0.62, color=_BEST, alpha=0.75)
    reach = [[max(0.0, middle - low)], [max(0.0, high - middle)]]
    axes.errorbar(middle, 1, xerr=reach, color=_INK, elinewidth=1, capsize=3)
    axes.text(
        room.prefill_tok_s, 0, f"  {room.prefill_tok_s:,.0f}", va="center", color=_INK, size=9
    )
    axes.text(high, 1, f"  {middle:,.0f}", va="center", color=_INK, size=9)
    axes.set_xlim(0, max(room.prefill_tok_s, high) * 1.15)
    axes.set_ylim(1.5, -0.5)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    _plain(axes, ["measured", "at the ceiling"], "cold prefill, tok/s")


def _plain(axes: Axes, names: list[str], unit: str) -> None:
    labels = ["\n".join(textwrap.wrap(harmless(name), _NAME)[:2]) for name in names]
    axes.set_yticks(range(len(names)), labels, color=_INK, size=9, parse_math=False)
    axes.set_xlabel(unit, color=_INK, size=9)
    axes.tick_params(axis="x", colors=_FAINT, labelsize=8)
    axes.tick_params(axis="y", length=0)
    axes.set_facecolor(_PAPER)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(_FAINT)


def _colour(name: str) -> str:
    if name == "unexplained":
        return _REST
    return _LOSS if " instead of " in name else _KNOWN
