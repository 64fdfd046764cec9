"""A table of processes: which columns it has, and what a row of it says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tools.linux.machine import Process
from tools.linux.quantity import number, size_mib

# procps 3.3 to 4.0 (ps, top), sysstat 11 to 12.7 (pidstat), htop 2 and 3; heads, and names of ps -o
_NAMES = {
    "PID": "pid", "TGID": "pid", "TID": "tid", "PPID": "ppid", "%CPU": "cpu", "CPU%": "cpu", "PCPU": "cpu",
    "S": "state", "STAT": "state", "STATE": "state", "NLWP": "threads", "THCNT": "threads", "RSS": "rss", "RES": "res",
    "WCHAN": "wchan", "COMMAND": "command", "CMD": "command", "ARGS": "command", "COMM": "name", "UCMD": "name",
    "%WAIT": "wait", "NVCSWCH/S": "preempted",
}  # fmt: skip
# top translates some heads, in Chinese one to nothing; these five it leaves alone in every language
_OF_TOP = ("PID", "USER", "PR", "NI", "VIRT", "RES", "SHR", "S", "%CPU", "%MEM", "TIME+", "COMMAND")
_UNTRANSLATED = ["PR", "NI", "VIRT", "RES", "SHR"]
_WIDE = {"LSTART": 5, "STARTED": 1}  # words that one column takes
_ASKED = re.compile(r"\bps\b.*? -?[a-zA-Z]*o +([\w%:,=]+(?: -o +[\w%:,=]+)*)")
_WORDS = re.compile(r"[A-Za-z%][\w%:+/-]*|#[A-Z]+")
_TREE = re.compile(r"^[|`│├└][|`│├└─_ -]{0,60}")  # pidstat -t and htop draw one
_SORTED = re.compile(r"%[-+▽△](?=[A-Z])")  # htop marks the column it sorts by
_MOMENT = 4  # columns in which pidstat's first is, after the words of a time or of "Average:"
_KEPT = 200


def columns_of(line: str) -> tuple[str, ...] | None:
    """Return the columns if this line is a table's head, or a `ps -o` that names them."""
    if (asked := _ASKED.search(line)) is not None:
        words = re.split(r"[,\s]+", asked[1].replace(" -o ", ","))
        columns = tuple(word.split(":")[0].rstrip("=").upper() for word in words if word)
        return columns if "PID" in columns else None
    words = [word for word in _SORTED.sub("% ", line).split() if word != "#"]
    if words[2:7] == _UNTRANSLATED and "%CPU" in words[7:9]:
        return _OF_TOP
    at = next((at for at, word in enumerate(words[:_MOMENT]) if word in ("UID", "USER")), None)
    if at is not None and words[-1] == "Command" and words[at + 1 : at + 2] in (["PID"], ["TGID"]):
        return (*[""] * at, *words[at:])  # pidstat
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


def _process(told: dict[str, str]) -> Process | None:
    said = {name: told[column] for column, name in _NAMES.items() if column in told}
    if "COMMAND" in told and ("CMD" in told or "ARGS" in told):  # comm and args side by side
        said["name"], said["command"] = told["COMMAND"], told.get("CMD", told.get("ARGS", ""))
    pid = said.get("pid", said.get("tid", ""))
    if not pid.isdecimal() and "tid" in said:
        pid = said["tid"]
    if not pid.isdecimal() or len(pid) > 8:
        return None
    command = _TREE.sub("", said.get("command", ""))
    fields: dict[str, Any] = {
        "pid": int(pid),
        "ppid": int(said["ppid"]) if said.get("ppid", "").isdecimal() else None,
        "cpu_pct": number(said["cpu"]) if "cpu" in said else None,
        "state": said.get("state", "")[:1] or None,
        "threads": int(said["threads"]) if said.get("threads", "").isdecimal() else None,
        "wchan": said.get("wchan") if said.get("wchan") != "-" else None,
        "command": command[:_KEPT] or None,
        "name": said.get("name") or _name(command),
        "rss_mib": _memory(said),
        "wait_pct": number(said.get("wait", "")),
        "preempted_s": number(said.get("preempted", "")),
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
