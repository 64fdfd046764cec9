"""The mornings of a group: how many hosts had a fault each day, and the decode rate beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from bot.charts import canvas
from bot.charts.canvas import BLUE, INK, SIZE, SMALL, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FEWEST = 3  # days that make a course
MOST = 14  # days that are drawn
_PANEL_IN, _AXES_IN, _BELOW_IN = 1.35, 0.85, 0.3


@dataclass(frozen=True)
class Morning:
    """One day of a group: hosts with a fault, of how many, and their median rate (tok/s).

    A fault is a cause that was found, or that nothing was to be seen; a host that is merely slower than
    it was is none, for that is not known of the days before.
    """

    date: str
    faulty: int
    hosts: int
    decode: float | None = None


def kept(days: Sequence[Morning]) -> str:
    """Write the days that are drawn, so that who draws them later needs nothing else."""
    return json.dumps([astuple(one) for one in list(days)[-MOST:]])


def kept_png(title: str, text: str) -> bytes | None:
    """Draw what `kept` wrote."""
    return mornings_png(title, [Morning(*one) for one in json.loads(text)])


def mornings_png(title: str, days: Sequence[Morning]) -> bytes | None:
    """Draw it; None without matplotlib, or where there are too few days."""
    shown = list(days)[-MOST:]
    if len(shown) < FEWEST:
        return None
    rates = sum(one.decode is not None for one in shown) >= FEWEST
    faults = any(one.faulty for one in shown) or not rates  # without any there is no bar to see
    panels = [*([_faulty] if faults else []), *([_decode] if rates else [])]
    head = canvas.head_in(title)
    high = head + _PANEL_IN * len(panels) + _BELOW_IN

    def draw(figure: Figure) -> None:
        canvas.headed(figure, title)
        for place, paint in enumerate(panels):
            top = head + 0.3 + place * _PANEL_IN
            axes = figure.add_axes((0.1, 1 - (top + _AXES_IN) / high, 0.87, _AXES_IN / high))
            paint(axes, shown)
            _dated(axes, shown, told=place == len(panels) - 1)

    return canvas.png(high, draw)


def mornings_alt(title: str, days: Sequence[Morning]) -> str:
    """Tell the same in words, for who cannot see the picture."""
    said = [
        f"{one.date[5:]}: {one.faulty} of {one.hosts:,}"
        + (f", decode {one.decode:.1f} tok/s." if one.decode is not None else ".")
        for one in list(days)[-MOST:]
    ]
    return " ".join([f"{title}.", *said])[: canvas.ALT]


def _faulty(axes: Axes, days: Sequence[Morning]) -> None:
    counts = [one.faulty for one in days]
    bars = axes.bar(range(len(days)), counts, color=VERMILION, width=0.62, zorder=2)
    if not _of_one(days):
        labels = [f"{n:,}" if n else "" for n in counts]
        axes.bar_label(bars, labels, color=INK, size=SMALL, padding=1)
    axes.set_ylim(0, max(1, *counts) * 1.3)
    axes.set_yticks([])
    name = (
        "days with a fault"
        if _of_one(days)
        else "hosts with a fault (merely slower ones not counted)"
    )
    axes.set_title(name, loc="left", color=INK, size=SIZE, pad=3)


def _decode(axes: Axes, days: Sequence[Morning]) -> None:
    at = [place for place, one in enumerate(days) if one.decode is not None]
    rates = [one.decode for one in days if one.decode is not None]
    axes.plot(at, rates, color=BLUE, lw=2.5, marker="o", ms=5, zorder=2)
    low, high = min(rates), max(rates)
    wide = max(high - low, 0.1 * high)  # a steady rate is drawn as a steady line
    axes.set_ylim((low + high) / 2 - 0.75 * wide, (low + high) / 2 + 0.75 * wide)
    axes.locator_params(axis="y", nbins=3)
    median = "" if _of_one(days) else ", median"
    axes.set_title(f"decode rate{median} (tok/s)", loc="left", color=INK, size=SIZE, pad=3)


def _of_one(days: Sequence[Morning]) -> bool:
    return all(one.hosts == 1 for one in days)


def _dated(axes: Axes, days: Sequence[Morning], *, told: bool) -> None:
    canvas.plain(axes, "")
    axes.set_xlim(-0.5, len(days) - 0.5)
    every = max(1, len(days) // 5)
    places = list(range(len(days) - 1, -1, -every))
    axes.set_xticks(places, [days[place].date[5:] for place in places] if told else [])
