"""Memory, swap, pressure and power supplies, as kernel files and tools print them."""

from __future__ import annotations

import re
from typing import Any

from tools.linux.quantity import number, size_mib

Told = dict[str, Any]
_MEMINFO = re.compile(r"^(MemTotal|MemAvailable|SwapTotal|SwapFree):\s+(\d+) kB", re.MULTILINE)
_HUGE = re.compile(r"^(AnonHugePages|HugePages_Total|Hugepagesize):\s+(\d+)", re.MULTILINE)
_THP = re.compile(
    r"^(?=.*\bmadvise\b)(?=.*\bnever\b).{0,40}\[(always|madvise|never)\]", re.MULTILINE
)
_SOME = re.compile(r"^some avg10=(\d+\.\d+)", re.MULTILINE)
_SUPPLY = re.compile(r"^\s{0,16}Max Power Capacity: (\d{2,5}) W", re.MULTILINE)
# procps free: the row names are translated, their place is not
_FREE = re.compile(
    r"^[ \t]{4,40}\S+(?:[ \t]+\S+){4}.*\n(?P<mem>\S{1,16}[:：][^\n]*)"
    r"(?:\n(?P<swap>\S{1,16}(?: {1,2}\S{1,8})?[:：][^\n]*))?",
    re.MULTILINE,
)
_PRESSURES = {"memory": "mem_pressure_pct", "cpu": "cpu_pressure_pct", "io": "io_pressure_pct"}


def read_meminfo(text: str) -> Told:
    """Return memory and swap of /proc/meminfo."""
    kib = {name: int(count) for name, count in _MEMINFO.findall(text)}
    facts: Told = {}
    if "MemTotal" in kib:
        facts["mem_total_mib"] = round(kib["MemTotal"] / 1024, 1)
    if "MemAvailable" in kib:
        facts["mem_available_mib"] = round(kib["MemAvailable"] / 1024, 1)
    if "SwapTotal" in kib and "SwapFree" in kib:
        facts["swap_used_mib"] = round((kib["SwapTotal"] - kib["SwapFree"]) / 1024, 1)
    return facts


def read_huge_pages(text: str) -> Told:
    """Return the setting of transparent huge pages, and how much memory lies in huge pages."""
    kept = {name: int(count) for name, count in _HUGE.findall(text)}
    facts: Told = {"thp": found[1]} if (found := _THP.search(text)) else {}
    if "AnonHugePages" in kept:
        fixed = kept.get("HugePages_Total", 0) * kept.get("Hugepagesize", 2048)
        facts["huge_mib"] = round((kept["AnonHugePages"] + fixed) / 1024, 1)
    return facts


def read_pressure(name: str, text: str) -> Told:
    """Return the share of the last ten seconds in which some task waited for a resource (PSI)."""
    found = _SOME.search(text)
    return {_PRESSURES[name]: float(found[1])} if found and name in _PRESSURES else {}


def supply_w(text: str) -> float | None:
    """Return the rating of the power supplies of `dmidecode -t 39` together."""
    ratings = [float(watts) for watts in _SUPPLY.findall(text)]
    return sum(ratings) if ratings else None


def read_free(text: str) -> Told:
    """Return memory and swap of free, free -m or free -h; a bare number is judged by its size."""
    found = _FREE.search(text)
    if found is None:
        return {}
    memory = found["mem"].split()[1:]
    if len(memory) < 5 or not all(size_mib(word) is not None for word in memory):
        return {}
    total = number(memory[0])
    unit = "M" if total is not None and total < 4_000_000 else "K"  # 4 TB in MiB, 4 GB in KiB
    facts: Told = {
        "mem_total_mib": size_mib(memory[0], unit),
        "mem_available_mib": size_mib(memory[-1], unit),
    }
    swap = found["swap"].split()[1:] if found["swap"] else []
    if len(swap) == 3:
        facts["swap_used_mib"] = size_mib(swap[1], unit)
    return facts
