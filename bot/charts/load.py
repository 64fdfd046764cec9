"""Links and clocks over the seconds of a load, as the sampler on the host saw them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from bot.charts import canvas
from bot.charts.canvas import FAINT, INK, LINES, SERIES, SIZE, SMALL
from tools.knowledge.links import pcie_gb_s
from tools.nvidia.gpus import Gpus, GpuSample

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FEWEST = 4  # samples of a GPU; fewer are looks, not a course
_SHOWN = len(SERIES)  # GPUs; more lie on each other
_PANEL_IN, _ABOVE_IN, _BELOW_IN, _LEGEND_IN = 1.2, 0.38, 0.68, 0.32
_LESS = 0.9  # of the best rate: a link below it is slow
_EVEN = 0.05  # of a clock: what all GPUs keep within is one figure


@dataclass(frozen=True)
class _Panel:
    unit: str
    of: Callable[[GpuSample], float | None]
    most: Callable[[GpuSample], float | None]  # what it could be, as a dashed line


def _link(one: GpuSample) -> float | None:
    return _gb_s(one.link_gen, one.link_width)


def _best_link(one: GpuSample) -> float | None:
    return _gb_s(one.gen_possible, one.link_width_max or one.link_width)


def _gb_s(gen: int | None, width: int | None) -> float | None:
    return pcie_gb_s(gen, width) if gen and width else None


_PANELS = (
    _Panel("link, GB/s", _link, _best_link),
    _Panel("SM clock, MHz", lambda one: one.sm_mhz, lambda one: one.sm_max_mhz),
    _Panel("GPU busy, %", lambda one: one.util_pct, lambda _: None),
)

_Form = tuple[int, int]  # generation and lanes
Course = Mapping[str, Sequence[tuple[float, GpuSample]]]  # seconds and samples, by GPU


def load_png(gpus: Gpus) -> bytes | None:
    """Draw link, clock and load of each GPU; None without matplotlib, or of too few samples."""
    course = _course(gpus)
    panels = [one for one in _PANELS if _told(one, course)]
    if not panels:
        return None
    title = load_title(gpus)
    head = canvas.head_in(title) + _LEGEND_IN
    high = head + (_PANEL_IN + _ABOVE_IN) * len(panels) + _BELOW_IN

    def draw(figure: Figure) -> None:
        canvas.headed(figure, title)
        for place, panel in enumerate(panels):
            low = head + (place + 1) * (_PANEL_IN + _ABOVE_IN)
            axes = figure.add_axes((0.15, 1 - low / high, 0.81, _PANEL_IN / high))
            _draw(axes, panel, course, last=place == len(panels) - 1)
        handles, names = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="upper left", ncols=6, frameon=False, fontsize=SMALL,
                      bbox_to_anchor=(0.12, 1 - (head - _LEGEND_IN - 0.08) / high),
                      handlelength=1.6, columnspacing=1.0)  # fmt: skip

    return canvas.png(high, draw)


def load_title(gpus: Gpus) -> str:
    """Say what the links did while the GPUs were at work."""
    slow = {gpu: found for gpu, group in gpus.working().items() if (found := _slowest(group))}
    if slow:
        gpu, worst = min(slow.items(), key=lambda one: _rate(one[1][0]))
        who = f"the link of GPU {gpu}" if len(gpus.by_gpu()) > 1 else "the link"
        if len(slow) > 1 and set(slow.values()) == {worst}:
            who = "every link" if len(slow) == len(gpus.by_gpu()) else f"{len(slow)} links"
        (gen, width), (best, wide) = worst
        rates = f"{_rate(worst[0]):.0f} of {_rate(worst[1]):.0f} GB/s"
        return f"Under load {who} gives {rates} (Gen{gen} x{width} of Gen{best} x{wide})"
    if not gpus.working():
        return "No GPU was at work: links at rest prove nothing"
    if any(_link(one) and _best_link(one) for one in gpus.busy()):
        return f"Every link was as fast as it can be under load{_clocks(gpus)}"
    return f"The GPUs under load{_clocks(gpus)}"


def load_alt(gpus: Gpus) -> str:
    """Tell the same in words, for who cannot see the picture."""
    course = _course(gpus)
    said = [f"{load_title(gpus)}."]
    for gpu, samples in list(course.items())[:_SHOWN]:
        parts = []
        for panel in _PANELS:
            values = [value for _, one in samples if (value := panel.of(one)) is not None]
            if values:
                low, high = min(values), max(values)
                span = (
                    f"{low:,.0f}" if f"{low:.0f}" == f"{high:.0f}" else f"{low:,.0f} to {high:,.0f}"
                )
                parts.append(f"{panel.unit.partition(',')[0]} {span} {panel.unit.split(', ')[1]}")
        took = samples[-1][0] - samples[0][0]
        said.append(f"GPU {gpu}, {len(samples)} samples in {took:.0f} s: {', '.join(parts)}.")
    return " ".join(said)[: canvas.ALT]


def watched(gpus: Gpus) -> bool:
    """Say whether it is a course over time, and not a look or two."""
    return bool(gpus.window_s) and any(_told(one, _course(gpus)) for one in _PANELS)


def _course(gpus: Gpus) -> Course:
    found: dict[str, list[tuple[float, GpuSample]]] = {}
    for gpu, group in gpus.by_gpu().items():
        timed = [(at, one) for one in group if (at := _seconds(one.at)) is not None]
        if len(timed) >= _FEWEST:
            found[gpu] = sorted(timed, key=lambda one: one[0])
    first = min((timed[0][0] for timed in found.values()), default=0.0)
    return {gpu: [(at - first, one) for at, one in timed] for gpu, timed in found.items()}


def _seconds(at: str | None) -> float | None:
    """Return a moment of NVML (seconds) or of nvidia-smi (a date and a time) in seconds."""
    if at is None:
        return None
    try:
        return float(at)
    except ValueError:
        pass
    try:
        return datetime.strptime(at.strip(), "%Y/%m/%d %H:%M:%S.%f").timestamp()
    except ValueError:
        return None


def _told(panel: _Panel, course: Course) -> bool:
    return any(panel.of(one) is not None for timed in course.values() for _, one in timed)


def _slowest(group: Sequence[GpuSample]) -> tuple[_Form, _Form] | None:
    """Return the link that a GPU at work had most often, and its best; None where it is no less."""
    now = [(one.link_gen, one.link_width) for one in group if one.link_gen and one.link_width]
    most = [
        (one.gen_possible, width)
        for one in group
        if one.gen_possible and (width := one.link_width_max or one.link_width)
    ]
    if not now or not most:
        return None
    usual, best = max(set(now), key=now.count), max(most, key=_rate)
    return (usual, best) if _rate(usual) < _rate(best) * _LESS else None


def _rate(form: _Form) -> float:
    return pcie_gb_s(*form) or 0.0


def _clocks(gpus: Gpus) -> str:
    told = [one.sm_mhz for one in gpus.busy() if one.sm_mhz]
    if not told:
        return ""
    low, high = min(told), max(told)
    if high - low < _EVEN * high:
        return f"; clocks steady at {high:,.0f} MHz"
    return f"; clocks between {low:,.0f} and {high:,.0f} MHz"


def _draw(axes: Axes, panel: _Panel, course: Course, *, last: bool) -> None:
    most = [best for timed in course.values() for _, one in timed if (best := panel.most(one))]
    for place, (gpu, timed) in enumerate(list(course.items())[:_SHOWN]):
        line = [(at, value) for at, one in timed if (value := panel.of(one)) is not None]
        axes.plot(
            [at for at, _ in line], [value for _, value in line], drawstyle="steps-post",
            color=SERIES[place], ls=LINES[place % len(LINES)], lw=2.4, label=f"GPU {gpu}",
        )  # fmt: skip
    values = [value for timed in course.values() for _, one in timed if (value := panel.of(one))]
    top = max([*most, *values, 1.0])
    if most:
        axes.axhline(max(most), color=FAINT, lw=1.2, ls=(0, (6, 4)))
        end = max(timed[-1][0] for timed in course.values())
        axes.text(end, max(most), f"possible {max(most):,.0f} ", ha="right", va="bottom", color=FAINT,
                  size=SMALL)  # fmt: skip
    axes.set_ylim(0, top * 1.3)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.locator_params(axis="y", nbins=3)
    canvas.plain(axes, "seconds" if last else "")
    axes.tick_params(labelbottom=last)
    axes.set_title(panel.unit, loc="left", color=INK, size=SIZE, pad=3)
