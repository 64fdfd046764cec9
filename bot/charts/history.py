"""The throughput of a server over its log: decode and prefill, and where one of them got worse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from bot.charts import canvas
from bot.charts.canvas import FAINT, INK, PAPER, SERIES, SIZE, SMALL, VERMILION
from tools.engine import ServerLog
from tools.engine.clock import clock_s
from tools.engine.history import Change, History

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FEWEST = 20  # points of a rate; fewer are told better in words
_MARKS = "os^D"
_LOADS = ((1, "1 request"), (4, "2 to 4"), (16, "5 to 16"), (None, "more"))
_PANEL_IN, _ABOVE_IN, _BELOW_IN, _LEGEND_IN = 1.9, 0.35, 0.75, 0.35
_NAMES = {"step": "a decode step", "accept": "the accept length", "prefill": "prefill",
          "hits": "the share of cache hits", "queue": "the queue"}  # fmt: skip


@dataclass(frozen=True)
class _Rate:
    at: float  # minutes since the first, or the place in the log
    tok_s: float
    running: int | None = None  # requests; not of prefill


@dataclass(frozen=True)
class _Course:
    decode: Sequence[_Rate]
    prefill: Sequence[_Rate]
    starts: Sequence[float]  # of servers after the first
    change: float | None  # where it got worse for good
    unit: str


def history_png(log: ServerLog) -> bytes | None:
    """Draw the rates of a log; None without matplotlib."""
    course, title = _course(log), history_title(log)
    panels = [
        (name, rates)
        for name, rates in (("decode", course.decode), ("prefill", course.prefill))
        if rates
    ]
    head = canvas.head_in(title) + _LEGEND_IN
    high = head + (_PANEL_IN + _ABOVE_IN) * len(panels) + _BELOW_IN

    def draw(figure: Figure) -> None:
        canvas.headed(figure, title)
        for place, (name, rates) in enumerate(panels):
            top = head + place * (_PANEL_IN + _ABOVE_IN) + _ABOVE_IN
            axes = figure.add_axes((0.15, 1 - (top + _PANEL_IN) / high, 0.81, _PANEL_IN / high))
            _draw(axes, name, rates, course)
            last = place == len(panels) - 1
            canvas.plain(axes, course.unit if last else "")
            axes.tick_params(labelbottom=last)
            _limits(axes, course)
        handles, names = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="upper left", ncols=4, frameon=False, fontsize=SMALL,
                      bbox_to_anchor=(0.12, 1 - (head - _LEGEND_IN - 0.05) / high),
                      handletextpad=0.2, columnspacing=0.9)  # fmt: skip

    return canvas.png(high, draw)


def long_enough(log: ServerLog) -> bool:
    """Say whether there is a course to show."""
    course = _course(log)
    return max(len(course.decode), len(course.prefill)) >= FEWEST


def history_title(log: ServerLog) -> str:
    """Say what the log shows: the largest change for the worse that lasts, else between which rates it was.

    That no change was found is not said: a short log may hide one that the verdict knows.
    """
    change = _lasting(log)
    if change is not None:
        _, pct, _ = change.pct
        points = " points" if change.kind.metric == "hits" else " %"
        at = f" from {_hour(change.first.at)} on" if change.first.at else ""
        how = canvas.minus(f"{pct:+.0f}") + points
        return f"{_NAMES[change.kind.metric].capitalize()}: {how}{at}, at the same load"
    course = _course(log)
    counts = [one.running or 1 for one in course.decode]
    if not counts:
        low, high = _most_of([one.tok_s for one in course.prefill])
        return f"Prompts were read at {low:,.0f} to {high:,.0f} tok/s"
    usual = max(set(counts), key=lambda running: (counts.count(running), -running))
    low, high = _most_of([one.tok_s for one in course.decode if (one.running or 1) == usual])
    requests = "one request" if usual == 1 else f"{usual} requests"
    span = f"{low:,.0f}" if f"{low:.0f}" == f"{high:.0f}" else f"{low:,.0f} to {high:,.0f}"
    return f"Decode gave {span} tok/s with {requests}"


def _most_of(rates: Sequence[float]) -> tuple[float, float]:
    """Return between which rates nine in ten lie."""
    told = sorted(rates)
    few = len(told) // 20
    return told[few], told[-1 - few]


def history_alt(log: ServerLog) -> str:
    """Tell the same in words, for who cannot see the picture."""
    course, said = _course(log), [f"{history_title(log)}."]
    for name, rates in (("Decode", course.decode), ("Prefill", course.prefill)):
        if rates:
            told = [one.tok_s for one in rates]
            low, high = _most_of(told)
            said.append(
                f"{name}: {len(told)} readings, median {median(told):,.0f} tok/s, nine in ten"
                f" {low:,.0f} to {high:,.0f}."
            )
    if course.starts:
        said.append(f"The server was started again in it (dotted): {len(course.starts)} x.")
    return " ".join(said)[: canvas.ALT]


def _lasting(log: ServerLog) -> Change | None:
    return next((one for one in History.of_log(log).changes if one.until is None), None)


def _course(log: ServerLog) -> _Course:
    history = History.of_log(log)
    runs = [run for run in history.runs if run.decode or run.prefill]
    decode = [one for run in runs for one in run.decode]
    prefill = [one for run in runs for one in run.prefill if one.tok_s]
    axis = _Axis([*(one.at for one in decode), *(one.at for one in prefill)])
    begins = [run.decode[0].at if run.decode else run.prefill[0].at for run in runs[1:]]
    change = _lasting(log)
    return _Course(
        [_Rate(axis.of(one.at, place), one.tok_s, one.running) for place, one in enumerate(decode)],
        [_Rate(axis.of(one.at, place), one.tok_s or 0.0) for place, one in enumerate(prefill)],
        [axis.of(at, 0) for at in begins] if axis.told else [],
        axis.of(change.first.at, 0) if change and axis.told else None,
        axis.unit,
    )


class _Axis:
    """Minutes or hours where every line tells its time, else the place in the log."""

    def __init__(self, moments: Sequence[str | None]) -> None:
        times = [second for at in moments if (second := clock_s(at)) is not None]
        self.told = bool(times) and len(times) == len(moments)
        self._first = min(times, default=0)
        long = max(times, default=0) - self._first
        units = ((86400, "days"), (3600, "hours"), (60, "minutes"))
        self._each, unit = next((one for one in units if long > 3 * one[0]), units[-1])
        self.unit = f"{unit} since the first reading" if self.told else "readings, in their order"

    def of(self, at: str | None, place: int) -> float:
        second = clock_s(at)
        if not self.told or second is None:
            return float(place)
        return (second - self._first) / self._each


def _draw(axes: Axes, name: str, rates: Sequence[_Rate], course: _Course) -> None:
    for place, (told, some) in enumerate(_by_load(rates)):
        axes.plot([one.at for one in some], [one.tok_s for one in some], ls="", marker=_MARKS[place],
                  color=SERIES[place], ms=6, mec=PAPER, mew=0.5, label=told)  # fmt: skip
    for start in course.starts:
        axes.axvline(start, color=FAINT, lw=1, ls=":")
    if course.change is not None:
        axes.axvline(course.change, color=VERMILION, lw=2, ls="--")
    axes.set_ylim(0, max(one.tok_s for one in rates) * 1.12)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.locator_params(axis="y", nbins=4)
    axes.set_title(f"{name}, tok/s", loc="left", color=INK, size=SIZE, pad=4)


def _limits(axes: Axes, course: _Course) -> None:
    last = max(one.at for one in (*course.decode, *course.prefill))
    first = min(one.at for one in (*course.decode, *course.prefill))
    wide = (last - first) or 1.0
    axes.set_xlim(first - 0.02 * wide, last + 0.02 * wide)


def _by_load(rates: Sequence[_Rate]) -> Iterator[tuple[str, list[_Rate]]]:
    if all(one.running is None for one in rates):
        yield "", list(rates)
        return
    low = 0
    for most, told in _LOADS:
        some = [one for one in rates if low < (one.running or 1) <= (most or 1 << 30)]
        if some:
            yield told, some
        low = most or low


def _hour(at: str) -> str:
    """Return the time of a printed moment, without its date and seconds."""
    return at[11:16] if len(at) >= 19 else at[:5]
