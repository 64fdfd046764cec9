"""Files of control groups, of both versions: limits of CPU and memory, and how often they bit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from tools.linux.machine import between
from tools.linux.machine_memory import read_pressure
from tools.linux.machine_script import counters, quota_cores
from tools.linux.transcript import Section

Told = dict[str, Any]
_NAMES = (
    r"cpu\.(?:max|stat|pressure|cfs_quota_us|cfs_period_us)|cpuset\.cpus(?:\.effective)?"
    r"|cpuset\.effective_cpus|memory\.(?:max|current|events|pressure|limit_in_bytes|usage_in_bytes|oom_control)"
)
_FILE = re.compile(rf"(?:^|/)({_NAMES})$")
_RELATIVE = re.compile(rf"^(?:\./)?((?:[\w.@\\-]{{1,120}}/){{0,12}}(?:{_NAMES})):(.*)$")  # grep . *
_CPUS = re.compile(r"\d{1,4}(?:-\d{1,4})?(?:,\d{1,4}(?:-\d{1,4})?){0,200}")
_COUNT = re.compile(r"^oom_kill (\d{1,20})$", re.MULTILINE)
_COUNTER = re.compile(r"[a-z][a-z_]+(?:\.[a-z_]+)? (?:\d|avg10=)")
_COUNTERS = ("periods", "throttled_periods", "throttled_usec", "throttled_delta", "window_s")
_LEAST_MIB, _MOST_MIB = 1.0, 1 << 40  # version 1 says "no limit" as 2^63 less a page


def read_groups(parts: Iterable[Section]) -> Told:
    """Return the tightest limits among all groups that a text shows, and that group's counters."""
    groups, later = _gathered(parts)
    facts: Told = {}
    for folder, files in sorted(groups.items(), key=lambda group: _cores(group[1])):
        told = _of_group(files)
        if folder in later:
            told |= between(_counted(told), _counted(counters(later[folder])))
        if "quota_told" in facts:
            told = {name: value for name, value in told.items() if name not in _COUNTERS}
        facts = told | facts
    return facts


def _gathered(parts: Iterable[Section]) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """Return each group's files as read first, and the counters of those that were read again."""
    groups: dict[str, dict[str, str]] = {}
    later: dict[str, str] = {}
    for part in parts:
        for path, text in _files(part):
            folder, _, name = path.rpartition("/")
            body = text.strip()
            if not body or body.startswith("cat: "):
                continue
            if groups.setdefault(folder, {}).setdefault(name, body) != body and name == "cpu.stat":
                later[folder] = body
    return groups, later


def _files(part: Section) -> list[tuple[str, str]]:
    """Return (path, what it holds): of one named file, of several one-line files, or of `grep . *`."""
    lines = [line for line in part.lines if line.strip()]
    named = [path for path in part.paths if _FILE.search(path)]
    if len(named) == 1 and len(part.paths) == 1:
        return [(named[0], "\n".join(lines))]
    if named and len(named) == len(part.paths):
        return _one_after_the_other(named, lines)
    grepped: dict[str, list[str]] = {}
    for line in lines:
        if (found := _RELATIVE.match(line)) is not None:
            grepped.setdefault(found[1], []).append(found[2])
    return [(path, "\n".join(body)) for path, body in grepped.items()]


def _one_after_the_other(paths: list[str], lines: list[str]) -> list[tuple[str, str]]:
    """Give each file of one `cat` its lines: those of "name value" belong to a file of counters."""
    found: list[tuple[str, str]] = []
    at = 0
    for path in paths:
        end = at + 1
        if path.endswith((".stat", ".events", ".pressure", ".oom_control")):
            first = lines[at].split(" ")[0] if at < len(lines) else ""
            while end < len(lines) and _is_next_counter(lines[end], first):
                end += 1
        found.append((path, "\n".join(lines[at:end])))
        at = end
    return found


def _counted(told: Told) -> tuple[int, int] | None:
    if "periods" in told and "throttled_periods" in told:
        return told["periods"], told["throttled_periods"]
    return None


def _is_next_counter(line: str, first: str) -> bool:
    """Say whether a line is one more counter of a file: its first name again is the next reading."""
    return bool(_COUNTER.match(line)) and line.split(" ")[0] != first


def _cores(files: dict[str, str]) -> float:
    return _quota(files).get("quota_cpus") or float("inf")


def _quota(files: dict[str, str]) -> Told:
    if "cpu.max" in files:
        words = files["cpu.max"].split("\n")[0]
    elif "cpu.cfs_quota_us" in files:
        words = f"{files['cpu.cfs_quota_us']} {files.get('cpu.cfs_period_us', 100_000)}"
    else:
        return {}
    if not re.fullmatch(r"(?:max|-?\d{1,12})(?: \d{1,12})?", words):
        return {}
    return {"quota_told": True, "quota_cpus": quota_cores(words)}


def _of_group(files: dict[str, str]) -> Told:
    facts = _quota(files) | counters(files.get("cpu.stat", "")) | _memory(files)
    for name in ("cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"):
        if _CPUS.fullmatch(files.get(name, "")):
            facts.setdefault("cpus_allowed", files[name])
    for name in ("cpu.pressure", "memory.pressure"):
        facts |= read_pressure(name.split(".")[0], files.get(name, ""))
    return {name: value for name, value in facts.items() if value is not None}


def _memory(files: dict[str, str]) -> Told:
    facts: Told = {}
    for name in ("memory.max", "memory.limit_in_bytes"):
        facts |= _mib("mem_limit_mib", files.get(name, ""))
    for name in ("memory.current", "memory.usage_in_bytes"):
        facts |= _mib("mem_current_mib", files.get(name, ""))
    for name in ("memory.events", "memory.oom_control"):
        if (kills := _COUNT.search(files.get(name, ""))) is not None:
            facts["group_oom_kills"] = int(kills[1])
    return facts


def _mib(field: str, text: str) -> Told:
    mib = int(text) / (1 << 20) if text.isdecimal() and len(text) <= 20 else 0.0
    return {field: mib} if _LEAST_MIB <= mib < _MOST_MIB else {}
