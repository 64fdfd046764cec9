"""A machine as our script on the host tells it; what it read twice becomes a rate."""

from __future__ import annotations

import re
from typing import Any

from tools.linux.machine import Machine
from tools.linux.machine_memory import read_huge_pages, read_meminfo, read_pressure, supply_w
from tools.linux.machine_virt import Guest

Told = dict[str, Any]
_DIGITS = 20  # of a counter of 64 bits
_STAT = re.compile(r"^(nr_periods|nr_throttled|throttled_usec|throttled_time) (\d+)$", re.MULTILINE)
_D3 = re.compile(r"Runtime D3 status:\s*(\S.*)")
_SWAP = re.compile(r"pswp(?:in|out) (\d+)")


def read_script(said: Told) -> Machine:
    """Return the machine; what a kernel does not offer stays None."""
    facts: Told = {"kernel": said.get("kernel"), "kernel_cmdline": said.get("cmdline")}
    guest = Guest.of_script(
        _part(said, "guest"), str(said.get("kernel") or ""), _part(said, "processor")
    )
    facts |= {"virt": guest.virt, "guest_of": guest.of, "limits_of": said.get("limits_of")}
    facts |= _processor(_part(said, "processor")) | _limits(said) | _rates(said)
    facts |= read_meminfo(str(said.get("meminfo") or "")) | _rest(said)
    facts |= read_huge_pages(f"{said.get('meminfo') or ''}\n{said.get('thp') or ''}")
    for name, text in _part(said, "pressure").items():
        facts |= read_pressure(name, str(text or ""))
    return Machine(**facts)


def _part(said: Told, name: str) -> Told:
    part = said.get(name)
    return part if isinstance(part, dict) else {}


def _processor(told: Told) -> Told:
    cores, cpus = told.get("cores") or None, told.get("cpus")
    khz = str(told.get("max_khz") or "")
    return {
        "cpu_model": told.get("model"),
        "cpus": cpus,
        "sockets": told.get("sockets") or None,
        "threads_per_core": cpus // cores if cpus and cores and cpus >= cores else None,
        "governors": told.get("governors") or {},
        "scaling_driver": told.get("driver"),
        "mhz_max": int(khz) / 1000 if khz.isdecimal() else None,
        "mhz_now": tuple(float(mhz) for mhz in told.get("mhz") or ()),
    }


def _limits(said: Told) -> Told:
    """Take the tightest limit among the group and those above it, and that group's throttling."""
    before, after = (_rows(_part(said, name)) for name in ("before", "after"))
    facts: Told = {"quota_told": any(_quota(row)[0] for row in after)}
    if facts["quota_told"]:
        limited = [
            (cores, at) for at, row in enumerate(after) if (cores := _quota(row)[1]) is not None
        ]
        facts["quota_cpus"], at = min(limited, default=(None, 0))
        now = counters(str(after[at].get("cpu.stat", "")))
        facts |= now
        if at < len(before) and "throttled_periods" in now:
            then = counters(str(before[at].get("cpu.stat", "")))
            facts["throttled_delta"] = now["throttled_periods"] - then.get("throttled_periods", 0)
    memory = [int(row["memory.max"]) for row in after if str(row.get("memory.max", "")).isdecimal()]
    cpus = [str(row["cpuset.cpus.effective"]) for row in after if row.get("cpuset.cpus.effective")]
    return facts | {
        "mem_limit_mib": min(memory) / (1 << 20) if memory else None,
        "cpus_allowed": cpus[0] if cpus else None,
    }


def _rows(reading: Told) -> list[Told]:
    return [row for row in reading.get("limits") or () if isinstance(row, dict)]


def _quota(row: Told) -> tuple[bool, float | None]:
    """Say whether the group tells a limit, and the limit in cores."""
    if "cpu.max" in row:
        return True, quota_cores(str(row["cpu.max"]))
    if "cpu.cfs_quota_us" in row and "cpu.cfs_period_us" in row:
        return True, quota_cores(f"{row['cpu.cfs_quota_us']} {row['cpu.cfs_period_us']}")
    return False, None


def quota_cores(text: str) -> float | None:
    """Return cpu.max, "600000 100000", as cores; None for "max" and for -1, which limit nothing."""
    words = text.split()
    if (
        len(words) == 2
        and all(word.isdecimal() and len(word) <= _DIGITS for word in words)
        and int(words[1])
    ):
        return int(words[0]) / int(words[1])
    return None


def counters(text: str) -> Told:
    """Return the throttling counters of cpu.stat, of either version of control groups."""
    said = {name: int(count) for name, count in _STAT.findall(text) if len(count) <= _DIGITS}
    facts: Told = {}
    for name, field in (
        ("nr_periods", "periods"),
        ("nr_throttled", "throttled_periods"),
        ("throttled_usec", "throttled_usec"),
    ):
        if name in said:
            facts[field] = said[name]
    if "throttled_time" in said:  # version 1 counts nanoseconds
        facts["throttled_usec"] = said["throttled_time"] // 1000
    return facts


def _rates(said: Told) -> Told:
    before, after = _part(said, "before"), _part(said, "after")
    if not before or not after:
        return {}
    window_s = float(after.get("at", 0)) - float(before.get("at", 0))
    then, now = (
        [int(x) for x in str(part.get("stat", "")).split()[1:]] for part in (before, after)
    )
    swapped = [
        sum(map(int, _SWAP.findall(str(part.get("vmstat", ""))))) for part in (before, after)
    ]
    facts: Told = {"window_s": round(window_s, 3)}
    if after.get("vmstat"):
        facts["swapping_pages"] = swapped[1] - swapped[0]
    spent = [b - a for a, b in zip(then, now, strict=False)][
        :8
    ]  # guest time is counted in user time
    if len(spent) == 8 and sum(spent) > 0:
        facts["idle_pct"] = round(100 * (spent[3] + spent[4]) / sum(spent), 1)
        facts["steal_pct"] = round(100 * spent[7] / sum(spent), 1)
    return facts


def _rest(said: Told) -> Told:
    load, up = (str(said.get(name) or "").split() for name in ("loadavg", "uptime"))
    shm, nvidia, nodes = _part(said, "shm"), _part(said, "nvidia"), _part(said, "nodes")
    d3 = _D3.search(str(nvidia.get("power") or ""))
    policy = re.search(r"\[(\w+)\]", str(said.get("aspm") or ""))
    arrays = {name: told for name, told in _part(said, "md").items() if isinstance(told, dict)}
    return {
        "load1": float(load[0]) if load else None,
        "up_s": float(up[0]) if up else None,
        "numa_nodes": len(nodes) or None,
        "numa_cpus": {name: str(cpus) for name, cpus in sorted(nodes.items()) if cpus},
        "shm_total_mib": shm["total"] / (1 << 20) if "total" in shm else None,
        "shm_used_mib": (shm["total"] - shm["free"]) / (1 << 20) if "free" in shm else None,
        "aspm_policy": policy[1] if policy else None,
        "runtime_d3": d3[1].strip() if d3 else None,
        "nvidia_params": {name: str(value) for name, value in _part(nvidia, "params").items()},
        "md_threads": {
            name: int(told["threads"])
            for name, told in arrays.items()
            if str(told.get("threads")).isdecimal()
        },
        "md_levels": {
            name: str(told["level"]) for name, told in arrays.items() if told.get("level")
        },
        "supply_w": supply_w(str(said.get("supplies") or "")),
    }
