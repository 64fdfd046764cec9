"""A systemd unit's limits, as `systemctl cat`, `show` and `status` tell them."""

from __future__ import annotations

import re
from typing import Any

from tools.linux.quantity import number, size_mib

Told = dict[str, Any]
# systemd 239 to 257; the names of settings and of `show` are not translated
_SECTION = re.compile(r"^\[Service\]$", re.MULTILINE)
_SHOWN = re.compile(r"^(?:ExecStart=\{ path=|MainPID=\d|CPUQuotaPerSecUSec=)", re.MULTILINE)
_STATUS = re.compile(r"^ {2,12}(?:Active|Main PID): ", re.MULTILINE)
_SETTING = re.compile(
    r"^(CPUQuota|CPUQuotaPerSecUSec|MemoryMax|MemoryLimit|MemoryCurrent|AllowedCPUs|CPUAffinity"
    r"|EffectiveCPUs|Nice|LimitNOFILE|LimitMEMLOCK|Result)=(\S[^\n]{0,400})$",
    re.MULTILINE,
)
_SPAN = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(min|ms|us|s)(?: |$)")
_SECONDS = {"min": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6}
_CPUS = re.compile(r"\d{1,4}(?:-\d{1,4})?(?:[, ]\d{1,4}(?:-\d{1,4})?){0,200}")
_KILLED = re.compile(r"^ {2,12}Active: failed \(Result: oom-kill\)", re.MULTILINE)
_MEMORY = re.compile(r"^ {2,12}Memory: ([\d.]+[KMGT]?)", re.MULTILINE)
_MOST_MIB = 1 << 40


def read_unit(text: str) -> Told:
    """Return CPU quota, memory limit, cores and niceness of a service; of several settings the last."""
    shown, status = _SHOWN.search(text), _STATUS.search(text)
    if not (_SECTION.search(text) or shown or status):
        return {}
    facts = _settings(dict(_SETTING.findall(text)))
    if status and (used := _MEMORY.search(text)):
        facts["mem_current_mib"] = size_mib(used[1])
    if _KILLED.search(text):
        facts["oom_killed"] = True
    return {name: value for name, value in facts.items() if value is not None}


def _settings(said: dict[str, str]) -> Told:
    facts: Told = {}
    if "CPUQuota" in said or "CPUQuotaPerSecUSec" in said:
        facts |= {"quota_told": True, "quota_cpus": _cores(said)}
    limit = said.get("MemoryMax", said.get("MemoryLimit", ""))
    facts["mem_limit_mib"] = _mib(limit)
    facts["mem_current_mib"] = _mib(said.get("MemoryCurrent", ""))
    for name in ("CPUAffinity", "AllowedCPUs", "EffectiveCPUs"):
        if _CPUS.fullmatch(said.get(name, "").strip()):
            facts["cpus_allowed"] = said[name].strip().replace(" ", ",")
    nice = said.get("Nice", "").removeprefix("-")
    facts["nice"] = int(said["Nice"]) if nice.isdecimal() and len(nice) < 3 else None
    facts["oom_killed"] = True if said.get("Result") == "oom-kill" else None
    limits = {name: said[name] for name in ("LimitNOFILE", "LimitMEMLOCK") if name in said}
    return facts | ({"ulimits": limits} if limits else {})


def _cores(said: dict[str, str]) -> float | None:
    """Return "400%", or "4s" of CPU time a second, as cores; None for infinity."""
    if "CPUQuota" in said:
        share = number(said["CPUQuota"])
        return share / 100 if share else None
    spans = _SPAN.findall(said["CPUQuotaPerSecUSec"] + " ")
    return round(sum(float(count) * _SECONDS[unit] for count, unit in spans), 3) or None


def _mib(text: str) -> float | None:
    mib = size_mib(text) if text and len(text) < 24 else None
    return mib if mib is not None and 1 <= mib < _MOST_MIB else None
