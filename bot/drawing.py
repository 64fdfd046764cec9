"""Charts as files: drawn into a folder, and told with what each of them shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bot import charts
from bot.charts import Picture
from bot.narrator import Line
from bot.terminal import Terminal
from tools.evidence import Evidence
from tools.physics.headroom import Headroom

NOTHING = "No chart: there is no step to take apart, no watch over seconds and no long log in it."


def ready(folder: Path | None) -> None:
    """Raise ToolsError where charts cannot be kept, before anything is asked or measured."""
    if folder:
        charts.ready(folder)


def of_case(
    folder: Path | None, looks: Sequence[Evidence], room: Headroom | None, *, aloud: bool
) -> None:
    """Draw all that can be drawn of what was learned."""
    if folder:
        draw(folder, charts.pictures(looks, room), aloud=aloud)


def draw(folder: Path, found: Sequence[Picture], why_none: str = NOTHING, *, aloud: bool) -> None:
    """Draw pictures into a folder and say which; raise ToolsError where it cannot be written."""
    done = charts.kept(folder, found)
    if not aloud:
        return
    terminal = Terminal()
    if not done:
        terminal.tell([Line("trouble", why_none)])
        return
    terminal.tell([Line("heading", "Charts")])
    terminal.tell([Line("item", f"{path}: {one.title}.") for path, one in done])
