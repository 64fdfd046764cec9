"""Tables that benchmarks print: of statistics by metric (genai-perf, aiperf), of batches (SGLang).

rich draws the first with lines (genai-perf 0.0.16, aiperf 0.13) and breaks a long label over several
rows; the same tables are exported as CSV. The second is Markdown (bench_one_batch_server 0.4.6 on).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from typing import Any

from tools.engine.benchmark_json import perf_figures

Told = dict[str, Any]
Grid = tuple[list[str], list[list[str]]]

_BAR = re.compile(r"[│┃|]")
_RULE = re.compile(r"[\s|+:=\-━┳┡╇┩┏┓├┼┤┌┬┐─└┴┘]*$")
_UNIT = re.compile(r"\(([^()]{1,40})\)\s*$")
_NUMBER = re.compile(r"-?\d[\d,]{0,20}(?:\.\d{1,12})?$")
_CSV_HEAD = re.compile(r"^Metric,(?:avg,[\w,]{1,200}|Value)\r?$", re.MULTILINE)
_FIRST = frozenset({"statistic", "metric"})
_BATCH, _RATE = "batch size", "output throughput (tok/s)"
_BATCH_FIELDS = {
    _BATCH: "concurrency", _RATE: "output_tok_s", "input throughput (tok/s)": "input_tok_s",
    "acc length": "accept_len", "itl (ms)": "itl_mean_ms", "cache hit rate": "cache_hit_rate",
}  # fmt: skip
_MOST = 400  # rows of one table
_LONGEST = 2000


def is_table(text: str) -> bool:
    """Say whether a text holds such a table."""
    return bool(read_tables(text))


def read_tables(text: str) -> Told:
    """Return the facts of the tables of a text; of a later one what it tells counts."""
    facts: Told = {}
    for head, rows in (*_drawn(text), *_exported(text)):
        if head[0] in _FIRST:
            facts |= _statistics(head, rows)
        elif _BATCH in head and _RATE in head:
            facts |= _batches(head, rows)
    return facts


def _drawn(text: str) -> Iterator[Grid]:
    """Give each drawn table; it ends at a line without bars."""
    grid: Grid = ([], [])
    for line in text.splitlines():
        if _RULE.match(line):
            continue
        cells = [cell.strip() for cell in _BAR.split(line[:_LONGEST].strip().strip("│┃|"))]
        named = [" ".join(cell.lower().split()) for cell in cells]
        begins = len(cells) > 1 and (named[0] in _FIRST or (_BATCH in named and _RATE in named))
        if grid[0] and (begins or len(cells) < 2):
            yield grid
            grid = ([], [])
        if begins:
            grid = (named, [])
        elif grid[0]:
            _take(grid, cells)
    if grid[0]:
        yield grid


def _take(grid: Grid, cells: list[str]) -> None:
    """Take a row; one without figures goes on with the label above it."""
    head, rows = grid
    if len(cells) != len(head) or len(rows) >= _MOST:
        return
    if rows and not any(cells[1:]):
        rows[-1][0] += " " + cells[0]
    else:
        rows.append(cells)


def _exported(text: str) -> Iterator[Grid]:
    found = list(_CSV_HEAD.finditer(text))
    for each in found:
        lines: list[str] = []
        for line in text[each.end() :].split("\n")[1 : _MOST + 1]:
            if not line.strip():
                break
            lines.append(line[:_LONGEST])
        head = ["avg" if name == "value" else name for name in each[0].strip().lower().split(",")]
        yield head, list(csv.reader(lines))


def _statistics(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Told:
    metrics: dict[str, dict[str, float | str]] = {}
    for row in rows:
        unit = _UNIT.search(row[0])
        name = re.sub(r"\W+", "_", _UNIT.sub("", row[0]).strip().lower())
        told = {stat: _figure(cell) for stat, cell in zip(head[1:], row[1:], strict=False)}
        metrics[name] = {stat: value for stat, value in told.items() if value is not None}
        metrics[name]["unit"] = unit[1] if unit else ""
    return perf_figures(metrics)


def _batches(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Told:
    facts: Told = {}
    rates: dict[str, float] = {}
    for row in rows:
        told = {
            field: value
            for name, cell in zip(head, row, strict=True)
            if (field := _BATCH_FIELDS.get(name)) and (value := _figure(cell)) is not None
        }
        if "concurrency" in told and "output_tok_s" in told:
            facts = told | {"concurrency": int(told["concurrency"])}
            rates[f"concurrency {facts['concurrency']}"] = told["output_tok_s"]
    return facts | ({"rates_tok_s": rates} if len(rates) > 1 else {}) | _by_tool(facts)


def _by_tool(facts: Told) -> Told:
    return {"tool": "bench_one_batch_server"} if facts else {}


def _figure(cell: str) -> float | None:
    return float(cell.replace(",", "")) if _NUMBER.match(cell.strip()) else None
