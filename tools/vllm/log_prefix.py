"""What stands before a message in a log of vLLM: the process, the level, a time, the source line."""

from __future__ import annotations

import re
from typing import NamedTuple

# `(EngineCore_DP0 pid=142) INFO 04-24 18:02:39 [cuda.py:364] message` (V1); V0 has `cuda.py:364] `.
_PROCESS = re.compile(
    r"\(([\w-]{1,40}(?: [\w=-]{1,20}){0,3}) pid=\d{1,9}(?:, ip=[\w.:]{1,60})?\) ?"
)
_LEVEL = re.compile(
    r"(INFO|WARNING|ERROR|DEBUG|CRITICAL) (\d\d-\d\d \d\d:\d\d:\d\d)(?:[.,]\d{1,6})? \[?([\w./-]{1,80}:\d{1,6})\] ?"
)
_RANK = re.compile(r"(?:DP|PP|TP|EP)\d{1,4}")
_WORKER = re.compile(r"\brank=(\d{1,4})\b")  # 0.8 to 0.10: "(VllmWorker rank=1 pid=501)"


class Said(NamedTuple):
    """A message of vLLM. `level` is empty where the line has no prefix of the engine's own."""

    message: str
    level: str
    at: str | None
    rank: str
    source: str


def said(line: str) -> Said:
    """Take a line apart."""
    process = _PROCESS.match(line)
    rest = line[process.end() :] if process else line
    rank = _rank(process[1]) if process else ""
    level = _LEVEL.match(rest) or _LEVEL.search(rest, 0, 120)
    if level is None:
        return Said(rest, "", None, rank, "")
    return Said(rest[level.end() :], level[1], level[2], rank, level[3])


def _rank(process: str) -> str:
    worker = _WORKER.search(process)
    return " ".join(_RANK.findall(process)) or (f"TP{worker[1]}" if worker else "")
