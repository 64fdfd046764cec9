"""What can be drawn of what was learned: the step, the load, the course of the log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from bot.charts.beside import beside_alt, beside_png, beside_title
from bot.charts.history import history_alt, history_png, history_title, long_enough
from bot.charts.load import load_alt, load_png, load_title, watched
from bot.charts.waterfall import waterfall_alt, waterfall_png, waterfall_title
from tools.engine import ServerLog
from tools.errors import ToolsError
from tools.evidence import Evidence
from tools.known import Known
from tools.measure.difference import Difference
from tools.nvidia.gpus import Gpus
from tools.physics.headroom import Headroom

NO_MATPLOTLIB = (
    "No chart can be drawn: matplotlib is not installed. Add it: pip install 'perfsleuth[charts]'."
)


@dataclass(frozen=True)
class Picture:
    """A chart that can be drawn: its finding as the title, and what it shows in words."""

    name: str
    title: str
    alt: str
    draw: Callable[[], bytes | None]


def step_picture(room: Headroom) -> Picture:
    """Return where the milliseconds of a step go."""
    return Picture("step", waterfall_title(room), waterfall_alt(room), lambda: waterfall_png(room))


def load_picture(looks: Sequence[Evidence]) -> Picture | None:
    """Return links and clocks over time, by the last look that watched the GPUs for seconds."""
    seen = [look.facts for look in looks if isinstance(look.facts, Gpus) and watched(look.facts)]
    if not seen:
        return None
    gpus = seen[-1]
    return Picture("load", load_title(gpus), load_alt(gpus), lambda: load_png(gpus))


def history_picture(looks: Sequence[Evidence]) -> Picture | None:
    """Return the rates of the server's log over time, where it is long enough."""
    log = Known(looks).of_serving().get(ServerLog)
    if log is None or not long_enough(log):
        return None
    return Picture("history", history_title(log), history_alt(log), lambda: history_png(log))


def beside_picture(a: str, b: str, found: Sequence[Difference]) -> Picture:
    """Return the change of each figure between two sets of runs."""
    title, alt = beside_title(found), beside_alt(a, b, found)
    return Picture("compared", title, alt, lambda: beside_png(found))


def pictures(looks: Sequence[Evidence], room: Headroom | None) -> list[Picture]:
    """Return all that can be drawn, the step first."""
    drawn = (step_picture(room) if room else None, load_picture(looks), history_picture(looks))
    return [one for one in drawn if one]


def ready(folder: Path) -> None:
    """Raise ToolsError where charts cannot be kept there, before anything is asked or measured."""
    if find_spec("matplotlib") is None:
        raise ToolsError(NO_MATPLOTLIB)
    if not (folder.is_dir() or (not folder.exists() and folder.absolute().parent.is_dir())):
        raise ToolsError(
            f"{folder} is no folder for charts: name one, or a new one in one that exists."
        )


def kept(folder: Path, found: Sequence[Picture]) -> list[tuple[Path, Picture]]:
    """Draw pictures into a folder; raise ToolsError where that cannot be."""
    done = []
    for one in found:
        data, path = one.draw(), folder / f"{one.name}.png"
        if data is None:
            raise ToolsError(NO_MATPLOTLIB)
        try:
            folder.mkdir(exist_ok=True)
            path.write_bytes(data)
        except OSError as why:
            raise ToolsError(f"{path} cannot be written: {why.strerror}.") from None
        done.append((path, one))
    return done
