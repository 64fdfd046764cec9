"""A table of processes: which columns it has, and what a row of it says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tools.linux.machine import Process
from tools.linux.quantity import number, size_mib

# procps 3.3 to 4.0 (ps, top), sysstat 11 to 12.7 (pidstat); heads and the names that ps -o takes
_NAMES = {
    "PID": "pid", "TID": "tid", "PPID": "ppid", "%CPU": "cpu", "CPU%": "cpu", "PCPU": "cpu", "S": "state",
    "STAT": "state", "STATE": "state", "NLWP": "threads", "THCNT": "threads", "RSS": "rss", "RES": "res",
    "WCHAN": "wchan", "COMMAND": "command", "CMD": "command", "ARGS": "command", "COMM": "name", "UCMD": "name",
}  # fmt: skip
_WIDE = {"LSTART": 5, "STARTED": 1}  # words that one column takes
_ASKED = re.compile(r"\bps\b.*? -?[a-zA-Z]*o +([\w%:,=]+(?: -o +[\w%:,=]+)*)")
_WORDS = re.compile(r"[A-Za-z%][\w%:+-]*|#[A-Z]+|\d\d:\d\d:\d\d|[AP]M")
_TITLE = re.compile(r"^(?:\d\d:\d\d:\d\d|Average:)")
_KEPT = 200


def columns_of(line: str) -> tuple[str, ...] | None:
    """Return the columns if this line is a table's head, or a `ps -o` that names them."""
    if (asked := _ASKED.search(line)) is not None:
        words = re.split(r"[,\s]+", asked[1].replace(" -o ", ","))
        columns = tuple(word.split(":")[0].rstrip("=").upper() for word in words if word)
        return columns if "PID" in columns else None
    words = line.split()
    if not {"PID", "TID"} & set(words) or len(words) < 2 or len(words) > 40:
        return None
    if not all(_WORDS.fullmatch(word) for word in words):
        return None
    known = sum(1 for word in words if word.upper() in _NAMES)
    return tuple(words) if known >= 2 else None


def read_row(columns: Sequence[str], line: str) -> Process | None:
    """Return what a row says, or None if it is none of this table."""
    words = line.split()
    if len(words) < 2:
        return None
    if _TITLE.match(columns[0]) or _TITLE.match(words[0]):  # pidstat: one word fewer in "Average:"
        return _process(_from_right(columns, words))
    told: dict[str, str] = {}
    at = 0
    for place, column in enumerate(columns):
        if at >= len(words):
            break
        wide = _WIDE.get(column.upper(), 1)
        last = place == len(columns) - 1
        told[column.upper()] = " ".join(words[at:] if last else words[at : at + wide])
        at += wide
    return _process(told)


def _from_right(columns: Sequence[str], words: Sequence[str]) -> dict[str, str]:
    pairs = zip(reversed(columns), reversed(words), strict=False)
    return {column.upper(): word for column, word in pairs}


def _process(told: dict[str, str]) -> Process | None:
    said = {name: told[column] for column, name in _NAMES.items() if column in told}
    if "COMMAND" in told and ("CMD" in told or "ARGS" in told):  # comm and args side by side
        said["name"], said["command"] = told["COMMAND"], told.get("CMD", told.get("ARGS", ""))
    pid = said.get("pid", said.get("tid", ""))
    if not pid.isdigit() and "tid" in said:
        pid = said["tid"]
    if not pid.isdigit() or len(pid) > 8:
        return None
    command = said.get("command", "")
    fields: dict[str, Any] = {
        "pid": int(pid),
        "ppid": int(said["ppid"]) if said.get("ppid", "").isdigit() else None,
        "cpu_pct": number(said["cpu"]) if "cpu" in said else None,
        "state": said.get("state", "")[:1] or None,
        "threads": int(said["threads"]) if said.get("threads", "").isdigit() else None,
        "wchan": said.get("wchan") if said.get("wchan") != "-" else None,
        "command": command[:_KEPT] or None,
        "name": said.get("name") or _name(command),
        "rss_mib": _memory(said),
    }
    return Process(**fields)


def _memory(said: dict[str, str]) -> float | None:
    value = size_mib(said.get("res", said.get("rss", "")), "K")
    return None if value is None else round(value, 1)


def _name(command: str) -> str | None:
    """Return the program's name: a title such as sglang::scheduler_TP0, or the file's name."""
    words = command.strip("[]").split()
    if not words or words[0].startswith("-"):
        return None
    return words[0] if "::" in words[0] else words[0].rpartition("/")[2][:64]
