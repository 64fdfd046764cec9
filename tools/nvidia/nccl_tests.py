"""nccl-tests (all_reduce_perf and its kin): time and bus bandwidth by size, of 2.0 to 2.17.

A row has 12 columns, 13 since the root was added; columns are read from the left. A run that hangs
or is ended prints its head and some rows, and never the average.
"""

from __future__ import annotations

import re

from tools.nvidia.nccl import AllReduceTest

_ROW = re.compile(r"\s*(\d+)\s+(\d+)\s+([a-z]\w{2,15})\s+(\w{2,10})\s+(.{10,200})$")
_RANK = re.compile(r"#\s+Rank\s+\d+ .{0,40}\bPid\s+\d+ on ")
_GPUS = re.compile(r"(?:\bnGpus|\s-g|--ngpus) +(\d+)")
_BAD = re.compile(r"# Out of bounds values : (\d+)")
_REAL = re.compile(r"real\s+(?:(\d+)m)?(\d+(?:[.,]\d+)?)s?\s*$")
_HEAD = re.compile(
    r"# nccl-tests version|# nThread +\d|# +size +count +type |# Avg bus bandwidth", re.MULTILINE
)
_AVERAGE = "# Avg bus bandwidth"
_LONGEST = 400
_HALF = 4  # time, algbw, busbw, wrong; out of place, then in place


def is_nccl_test(text: str) -> bool:
    """Say whether a text is, or holds, what a program of nccl-tests printed."""
    return _HEAD.search(text) is not None


def read_nccl_test(text: str) -> AllReduceTest:
    """Return bus bandwidth and time of each size, and whether the run came to its end."""
    lines = [line for line in text.splitlines() if len(line) < _LONGEST]
    rows = [row for line in lines if (row := _row(line))]
    return AllReduceTest(
        busbw_gb_s={size: busbw for size, _, busbw, _ in rows},
        time_us={size: time for size, time, _, _ in rows},
        gpus=_gpus(lines),
        wrong=_wrong(lines, [wrong for _, _, _, wrong in rows]),
        finished=any(line.startswith(_AVERAGE) for line in lines),
        took_s=_took(lines),
    )


def _row(line: str) -> tuple[int, float, float, int | None] | None:
    found = _ROW.match(line)
    cells = found[5].split() if found else []
    cells = cells[1:] if len(cells) in (_HALF + 1, 2 * _HALF + 1) else cells  # without the root
    if not found or len(cells) not in (_HALF, 2 * _HALF):
        return None
    try:
        time, busbw = float(cells[0]), float(cells[2])
    except ValueError:
        return None
    wrong = [int(cell) for cell in cells[_HALF - 1 :: _HALF] if cell.isdigit()]
    return int(found[1]), time, busbw, sum(wrong) if wrong else None


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
