"""All-reduce benchmarks of people's own: a table with a size and a column busbw in GB/s.

    rows    payload     ms/call   algbw GB/s  busbw GB/s
     512     5.2 MB       0.895         5.86        8.79

Columns stand apart by two blanks, tabs, bars or commas; units stand in the head or in the cells. A
table whose size or bandwidth names no unit is left alone: a guess would be off by a factor of eight.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tools.nvidia.nccl import AllReduceTest

_APART = re.compile(r"\s{2,}|\t|\s*[|,]\s*")
_BUS = re.compile(r"bus.?(?:bw|bandwidth)", re.IGNORECASE)
_SIZE = re.compile(r"\b(?:size|payload|bytes?|message|msg|data)", re.IGNORECASE)
_TIME = re.compile(r"(?<![a-z])(?:time|latency|ms|us|µs)(?![a-z])", re.IGNORECASE)
_RATE_UNIT = re.compile(r"(?<![A-Za-z])(?:GB/s|GBps\b|GB_s\b)")  # not Gb/s, which counts bits
_NUMBER = re.compile(r"(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)")
_BYTES = {
    "b": 1, "byte": 1, "bytes": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9,
    "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
}  # fmt: skip
_SIZE_UNIT = re.compile(r"(?:^|[\s\d(\[_])(bytes?|[KMG]i?B|[KMG]|B)(?=$|[\s)\]])", re.IGNORECASE)
_US = {"us": 1.0, "µs": 1.0, "ms": 1000.0}
_TIME_UNIT = re.compile(r"(?<![a-z])(us|µs|ms)(?![a-z])")
_LONGEST = 300


def is_own_benchmark(text: str) -> bool:
    """Say whether a text holds such a table."""
    return bool(read_own_benchmark(text).busbw_gb_s)


def read_own_benchmark(text: str) -> AllReduceTest:
    """Return bus bandwidth and time by size; a later row of the same size counts."""
    rates: dict[int, float] = {}
    times: dict[int, float] = {}
    head: list[str] = []
    for line in text.splitlines():
        if len(line) > _LONGEST or not line.strip():
            head = head if line.strip() else []
            continue
        cells = _cells(line)
        if _is_head(cells):
            head = cells
        elif len(cells) == len(head) and (row := _row(head, cells)):
            size, rate, time_us = row
            rates[size] = rate
            times |= {size: time_us} if time_us is not None else {}
    return AllReduceTest(busbw_gb_s=rates, time_us=times)


def _cells(line: str) -> list[str]:
    cells = [cell.strip() for cell in _APART.split(line.strip().strip("|#").strip())]
    return cells if len(cells) > 1 else line.split()


def _is_head(cells: Sequence[str]) -> bool:
    return any(_BUS.search(cell) for cell in cells) and any(_SIZE.search(cell) for cell in cells)


def _row(head: Sequence[str], cells: Sequence[str]) -> tuple[int, float, float | None] | None:
    """Return size in bytes, GB/s and microseconds; None where one lacks its unit."""
    size = rate = time_us = None
    for name, cell in zip(head, cells, strict=True):
        found = _NUMBER.match(cell)
        if found is None:
            continue
        value = float(found[1])
        if _BUS.search(name):
            rate = value if _RATE_UNIT.search(f"{name} {cell}") else None
        elif _SIZE.search(name) and size is None:
            size = _scaled(value, cell, name, _SIZE_UNIT, _BYTES)
        elif _TIME.search(name.replace("/", " ")) and time_us is None:
            time_us = _scaled(value, cell, name, _TIME_UNIT, _US)
    return (round(size), rate, time_us) if size and rate is not None else None


def _scaled(
    value: float,
    cell: str,
    name: str,
    unit: re.Pattern[str],
    factors: dict[str, int] | dict[str, float],
) -> float | None:
    """Multiply by the unit in the cell, else by the one in the head."""
    found = unit.search(cell) or unit.search(name.replace("/", " "))
    return value * factors[found[1].lower()] if found else None
