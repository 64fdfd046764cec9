"""nccl-tests (all_reduce_perf and its kin): time and bus bandwidth by size, of 2.0 to 2.17.

A row has 12 columns, 13 since the root was added; columns are read from the left. A run that hangs
or is ended prints its head and some rows, and never the average. One text may hold the tests of
several collectives: an all-reduce is told by its rows, for it alone reduces without a root and
leaves every rank as many bytes as it sent. Those of all_gather and reduce_scatter stand in for it,
as halves of the same ring; those of alltoall, sendrecv, reduce and broadcast do not.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import NamedTuple

from tools.nvidia.nccl import AllReduceTest

_ROW = re.compile(r"\s*(\d+)\s+(\d+)\s+([a-z]\w{2,15})\s+(\w{2,10})\s+(.{10,200})$")
_RANK = re.compile(r"#\s+Rank\s+\d+ .{0,40}\bPid\s+\d+ on ")
_GPUS = re.compile(r"(?:\bnGpus|\s-g|--ngpus) +(\d+)")
_BAD = re.compile(r"# Out of bounds values : (\d+)")
_REAL = re.compile(r"real\s+(?:(\d+)m)?(\d+(?:[.,]\d+)?)s?\s*$")
_HEAD = re.compile(
    r"# nccl-tests version|# nThread +\d|# +size +count +type |# Avg bus bandwidth", re.MULTILINE
)
_BEGINS = re.compile(r"# nThread +\d")
_NAMED = re.compile(r"(?:# Collective test starting: |.*?\b)(\w{3,20})_perf\b")
_ERROR = re.compile(r".{0,100}: Test (?:NCCL|CUDA) failure \S{1,80} '(.{1,300}?)(?: / *)?'")
_ENDED = re.compile(
    r"\b(?:rc|exit(?:ed)?(?: with)?(?: code| status)?)[ =:]{1,2}124\b"
)  # by timeout(1)
_AVERAGE = "# Avg bus bandwidth"
_LONGEST = 400
_HALF = 4  # time, algbw, busbw, wrong; out of place, then in place
_BYTES = {"half": 2, "bfloat16": 2, "int64": 8, "uint64": 8, "double": 8}
_BYTE, _WORD = ("int8", "uint8", "fp8", "f8"), 4
_ALL_REDUCE = "all_reduce"
_NO_STAND_IN = frozenset(
    {"alltoall", "sendrecv", "broadcast", "reduce", "gather", "scatter", "hypercube"}
)


class _Row(NamedTuple):
    """One size: of which collective, its time in microseconds, bus bandwidth and wrong values."""

    name: str
    size: int
    time_us: float
    busbw_gb_s: float
    wrong: int | None


def is_nccl_test(text: str) -> bool:
    """Say whether a text is, or holds, what a program of nccl-tests printed."""
    return _HEAD.search(text) is not None


def read_nccl_test(text: str) -> AllReduceTest:
    """Return bus bandwidth and time of each size, and whether the run came to its end."""
    lines = [line for line in text.splitlines() if len(line) < _LONGEST]
    rows = _rows(lines)
    ours = [row for row in rows if row.name == _ALL_REDUCE] or [
        row for row in rows if row.name not in _NO_STAND_IN
    ]
    begun = sum(1 for line in lines if _BEGINS.match(line))
    ended = sum(1 for line in lines if line.startswith(_AVERAGE))
    error = next((found for line in lines if (found := _ERROR.match(line))), None)
    return AllReduceTest(
        busbw_gb_s={row.size: row.busbw_gb_s for row in ours},
        time_us={row.size: row.time_us for row in ours},
        gpus=_gpus(lines),
        wrong=_wrong(lines, [row.wrong for row in rows]),
        finished=ended >= max(begun, 1) and not any(_ENDED.search(line) for line in lines),
        took_s=_took(lines),
        error=error[1] if error else None,
    )


def _rows(lines: list[str]) -> list[_Row]:
    """Return the rows of all tests, each with the collective's name, told or as the rows show it."""
    rows: list[_Row] = []
    name = ""
    for line in lines:
        if "_perf" in line and (named := _NAMED.match(line)):
            name = named[1]
        elif row := _row(line, name):
            rows.append(row)
        elif line.startswith(_AVERAGE):
            name = ""
    return rows


def _row(line: str, name: str) -> _Row | None:
    found = _ROW.match(line)
    cells = found[5].split() if found else []
    rooted = len(cells) in (_HALF + 1, 2 * _HALF + 1)
    root, cells = (cells[0], cells[1:]) if rooted else ("-1", cells)
    if not found or len(cells) not in (_HALF, 2 * _HALF):
        return None
    try:
        time, busbw = float(cells[0]), float(cells[2])
    except ValueError:
        return None
    if not (isfinite(time) and isfinite(busbw)):
        return None
    wrong = [int(cell) for cell in cells[_HALF - 1 :: _HALF] if cell.isdecimal()]
    size, count, kind, redop = int(found[1]), int(found[2]), found[3], found[4]
    name = name or _shown(size, count * _width(kind), redop, root)
    return _Row(name, size, time, busbw, sum(wrong) if wrong else None)


def _width(kind: str) -> int:
    return 1 if kind.startswith(_BYTE) else _BYTES.get(kind, _WORD)


def _shown(size: int, bytes_each: int, redop: str, root: str) -> str:
    """Name the collective by its row."""
    if root != "-1":
        return "reduce"
    if redop == "none":
        return "alltoall"  # or all_gather, sendrecv: the row does not tell
    return _ALL_REDUCE if size <= bytes_each else "reduce_scatter"


def _gpus(lines: list[str]) -> int | None:
    ranks = sum(1 for line in lines if _RANK.match(line))
    asked = next((found for line in lines if (found := _GPUS.search(line))), None)
    return ranks or (int(asked[1]) if asked else None)


def _wrong(lines: list[str], of_rows: list[int | None]) -> int | None:
    counted = [wrong for wrong in of_rows if wrong is not None]
    if counted:
        return sum(counted)
    total = next((found for line in lines if (found := _BAD.match(line))), None)
    return int(total[1]) if total else None


def _took(lines: list[str]) -> float | None:
    found = next((found for line in lines if (found := _REAL.match(line))), None)
    return int(found[1] or 0) * 60 + float(found[2].replace(",", ".")) if found else None
