"""matplotlib's only door: paper, colours that all eyes tell apart, and one picture at a time."""

from __future__ import annotations

import atexit
import io
import os
import shutil
import tempfile
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from tools.harmless import harmless

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ALT = 900  # characters of an alternative text; Slack takes 1000 for a file

# Slack shows a picture 360 pixels wide: half of this, so that a letter of SIZE keeps nine of them.
WIDE_IN, DPI = 7.2, 100
SIZE, SMALL, TITLE = 13, 11, 14.5  # points
INK, FAINT, PAPER = "#1d1c1d", "#6b6b6b", "#ffffff"  # white paper reads in a dark Slack as well
# Okabe and Ito's colours, which all kinds of colour vision tell apart; marks and lines differ too.
BLUE, VERMILION, GREEN, REST = "#0072b2", "#d55e00", "#009e73", "#b9bec5"
SERIES = (BLUE, "#e69f00", GREEN, "#cc79a7", "#56b4e9", VERMILION, "#000000", "#f0e442")
LINES = ("-", "--", ":", "-.")
_TITLE_LINE = 52  # characters
_LINE_IN, _MARGIN_IN = 0.27, 0.18
_LOCK = Lock()  # matplotlib's fonts and caches are not made for threads


def png(high_in: float, draw: Callable[[Figure], None]) -> bytes | None:
    """Draw on a white sheet, some 40 kB; None where matplotlib is not installed (the extra "charts").

    The first picture of a process takes a second, later ones a tenth (measured).
    """
    with _LOCK:
        _writable()
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
        except ImportError:
            return None
        figure, out = _sheet(high_in), io.BytesIO()
        draw(figure)
        FigureCanvasAgg(figure)
        figure.savefig(out, format="png")
        return out.getvalue()


def svg(high_in: float, draw: Callable[[Figure], None], told: str) -> bytes:
    """Draw as an SVG that never varies, with a description; raise ImportError without matplotlib."""
    with _LOCK:
        _writable()
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG

        figure, out = _sheet(high_in), io.BytesIO()
        draw(figure)
        FigureCanvasSVG(figure)
        with matplotlib.rc_context({"svg.hashsalt": "perfsleuth", "svg.fonttype": "path"}):
            figure.savefig(out, format="svg", metadata={"Date": None, "Description": told})
        return out.getvalue()


def head_in(title: str) -> float:
    """Return how high a title stands, in inches."""
    return 2 * _MARGIN_IN + _LINE_IN * len(_lines(title))


def headed(figure: Figure, title: str) -> None:
    """Write what the picture shows over it: the finding, not the kind of picture."""
    high = figure.get_figheight()
    text = "\n".join(_lines(title))
    at = 1 - _MARGIN_IN / high
    figure.text(
        0.025, at, text, color=INK, size=TITLE, weight="bold", va="top", linespacing=1.25,
        parse_math=False,
    )  # fmt: skip


def plain(axes: Axes, below: str) -> None:
    """Take away what is no data, and name what the axis below counts."""
    axes.set_xlabel(below, color=INK, size=SIZE)
    axes.tick_params(colors=FAINT, labelcolor=INK, labelsize=SMALL)
    axes.set_facecolor(PAPER)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set_color(FAINT)


def named(axes: Axes, names: Sequence[str], letters: int) -> None:
    """Name rows from the top down, each in two lines at the most."""
    labels = ["\n".join(textwrap.wrap(harmless(name), letters)[:2]) for name in names]
    axes.set_yticks(range(len(labels)), labels, color=INK, size=SIZE, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(labels) - 0.5, -0.5)


def number(value: float) -> str:
    """Write a value in four figures, a large one in full: 61.8, 12,346."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def minus(text: str) -> str:
    """Write a minus as one, not as a hyphen."""
    return text.replace("-", "−")


def _lines(title: str) -> list[str]:
    text = harmless(title).replace(" %", "\N{NO-BREAK SPACE}%")
    return textwrap.wrap(text, _TITLE_LINE, max_lines=3, placeholder=" …", break_on_hyphens=False)


def _sheet(high_in: float) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDE_IN, high_in), dpi=DPI)
    figure.set_facecolor(PAPER)
    return figure


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
