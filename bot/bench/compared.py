"""Two sets of runs that were kept, set beside each other: do they differ, and what could they not show."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bot import settings
from bot.charts import beside_picture
from bot.drawing import draw, ready
from bot.given import Given, given
from bot.narrator.under_load import of_differences
from bot.terminal import Terminal
from tools.errors import ToolsError
from tools.measure.difference import differences
from tools.measure.runs import figures
from tools.probes import PROBES


def compare(names: tuple[str, str], charts: Path | None = None, *, as_json: bool) -> None:
    """Compare; raise ToolsError with what to do where the runs are none, or too few."""
    ready(charts)
    known = settings.load()
    one, other = (given(name, known, PROBES) for name in names)
    a, b = _runs(one), _runs(other)
    if not set(a) & set(b):
        raise ToolsError(
            f"{one.name} tells {_some(a)}, {other.name} {_some(b)}: no figure is in both."
        )
    found = differences(a, b)
    if not found:
        shared = next(name for name in a if name in b)
        raise ToolsError(
            f"{one.name} holds {len(a[shared])} and {other.name} {len(b[shared])} runs of {shared.partition(',')[0]}:"
            " two of each are the fewest that tell their spread, and five are a fair start."
        )
    if as_json:
        said = {"schema": 1, "a": one.name, "b": other.name}
        told = said | {"differences": [each.as_json() for each in found]}
        sys.stdout.write(json.dumps(told, ensure_ascii=False, indent=1) + "\n")
    else:
        Terminal().tell(of_differences(one.name, other.name, found))
    if charts:
        draw(charts, [beside_picture(one.name, other.name, found)], aloud=not as_json)


def _runs(one: Given) -> dict[str, list[float]]:
    if one.host:
        raise ToolsError(
            f"{one.name} is no file here. A host is measured first: bench {one.name} --save FILE."
        )
    found = figures(one.looks)
    if not found:
        raise ToolsError(f"{one.name} holds no result of bench_serving, vllm bench or a burst.")
    return found


def _some(names: dict[str, list[float]]) -> str:
    return " and ".join(name.partition(",")[0] for name in list(names)[:3])
