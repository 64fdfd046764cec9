"""Which decode lines come first after a gap: their rate is no rate.

`gen throughput` is the tokens since the last decode line over the time since it, so the first line
after a prefill or after idling mixes in what was no decoding (0.4.6 to 0.5.23).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from statistics import median
from typing import Any

from tools.engine.clock import clock_s

PAUSE = 3.0  # typical intervals, beyond which a pause was idle time
SHORTEST_S = 2.0  # the log tells whole seconds
FEW = 0.02  # fewer lines than this share without a prefill before them: traffic never stops


def mark(rows: Iterable[tuple[dict[str, Any], str]]) -> None:
    """Set `after_gap` in decode rows, each with what came before it: "", "start", "idle"
    or "prefill".

    "start" is the start-up, "idle" a prefill into an empty batch. Where nearly every line follows some prefill, the
    server is under steady load, and only those after idling are marked.
    """
    ranks: dict[str, list[tuple[dict[str, Any], str]]] = {}
    for row, before in rows:
        ranks.setdefault(row["rank"], []).append((row, before))
    for lines in ranks.values():
        _mark_rank(lines)


def _mark_rank(lines: list[tuple[dict[str, Any], str]]) -> None:
    times = [clock_s(row["at"]) for row, _ in lines]
    waits = [b - a if a is not None and b is not None else None for a, b in pairwise(times)]
    known = [
        wait
        for wait, (_, before) in zip(waits, lines[1:], strict=True)
        if wait is not None and not before
    ]
    usual = median(known or [wait for wait in waits if wait is not None] or [0])
    longest = max(PAUSE * usual, SHORTEST_S)
    paused = [lines[0][1] == "start", *(wait is not None and wait > longest for wait in waits)]
    quiet = sum(1 for (_, before), gap in zip(lines, paused, strict=True) if not before and not gap)
    strict = quiet >= max(3, FEW * len(lines))
    for (row, before), gap in zip(lines, paused, strict=True):
        row["after_gap"] = gap or before == "idle" or (strict and before == "prefill")
