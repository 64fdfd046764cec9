"""A machine as people paste it: lscpu, cpu.max, df, uptime and some twenty other forms."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tools.linux.allowed import read_affinity, read_ulimits
from tools.linux.cgroup import read_groups
from tools.linux.dmi import read_dmi
from tools.linux.lscpu import read_lscpu
from tools.linux.machine_cpu import read_cpuinfo, read_governors, read_vmstat
from tools.linux.machine_memory import (
    read_free,
    read_huge_pages,
    read_meminfo,
    read_pressure,
    supply_w,
)
from tools.linux.machine_script import counters, quota_cores
from tools.linux.machine_virt import KINDS, host_of
from tools.linux.mounts import read_mounts
from tools.linux.numa import read_numa
from tools.linux.quantity import number
from tools.linux.rdma import read_rdma
from tools.linux.rdma_counters import read_rdma_counters
from tools.linux.sysstat import read_mpstat, read_turbostat
from tools.linux.transcript import Section, sections
from tools.linux.unit import read_unit

Told = dict[str, Any]
_MAX = re.compile(r"(?:max|\d{3,12}) \d{3,8}")
_CMDLINE = re.compile(  # the file itself, or the kernel's line "Command line: " in its log
    r"^(?:.{0,160}\bCommand line: )?(?P<line>(?:BOOT_IMAGE=|initrd=|root=)\S+(?: \S+)*"
    r"|(?:[\w.-]+(?:=\S+)? ){0,40}root=\S+ (?:\S+ ){0,40}(?:ro|rw)\b.*)$",
    re.MULTILINE,
)
_UPTIME = re.compile(
    r"^ ?\d\d:\d\d:\d\d up +(?:(\d+) \w+, +)?(?:(\d+):(\d\d)|(\d+) min), "
    r".{0,40}?(\d+[.,]\d\d), +\d+[.,]\d\d, +\d+[.,]\d\d",
    re.MULTILINE,
)
_POLICY = re.compile(r"^(?=.*\bpowersupersave\b)(?=.*\bdefault\b).*\[(\w+)\]", re.MULTILINE)
_D3 = re.compile(r"^Runtime D3 status:\s*(\S.*)$", re.MULTILINE)
_PARAM = re.compile(
    r"^(DynamicPowerManagement|RegistryDwords(?:PerDevice)?|EnableStreamMemOPs|EnablePCIeGen3|EnableGpuFirmware"
    r"|EnableResizableBar|UsePageAttributeTable|PreserveVideoMemoryAllocations): (.*)$",
    re.MULTILINE,
)
_ARRAY = re.compile(r"^(md\w{1,20}) : active (?:\([a-z-]+\) )?(raid\d+|linear)", re.MULTILINE)
_THREADS = re.compile(r"/sys/block/(md\w{1,20})/md/group_thread_cnt")
_TOOL = r"^(?:ls|cat|stat|du): .{0,40}?['‘\"„]?"
_MISSING = re.compile(
    _TOOL + r"(/[^'’\"“\n]{1,400}?)['’\"“]?: No such file or directory$"
    r"|" + _TOOL + r"(/[^'’\"“\n]{1,400})['’\"“] .{0,40}: Datei oder Verzeichnis nicht gefunden$",
    re.MULTILINE,
)
_MODULE = re.compile(r"^NVRM version: NVIDIA UNIX .{0,80}?(\d{3}\.\d+(?:\.\d+)?)", re.MULTILINE)
_LIBRARY = re.compile(r"^NVML library version: (\d{3}\.\d+(?:\.\d+)?)", re.MULTILINE)
_MISMATCH = re.compile(r"^.{0,60}\bDriver/library version mismatch\s*$", re.MULTILINE)
_DENIED = re.compile(r"^Failed to initialize NVML: Unknown Error\s*$", re.MULTILINE)
_FABRIC = (  # nv-fabricmanager 515 to 580
    ("no NVSwitch", re.compile(r"nv-fabricmanager\[\d+\]: .{0,200}NV_WARN_NOTHING_TO_DO")),
    (
        "other version",
        re.compile(
            r"nv-fabricmanager\[\d+\]: .{0,120}version \S{1,24} don't match with driver version"
        ),
    ),
)
_WORD = re.compile(r"[\w-]{2,40}")
_COUNT = re.compile(r"\bnproc\b|cpu_count\(|sched_getaffinity\(")
_UNAME = re.compile(r"^Linux \S+ (\d+\.\d+[\w.+~-]*) #\d+", re.MULTILINE)


def read_machine_text(text: str) -> Told:
    """Return the fields of Machine that a text tells; an empty mapping where it tells none."""
    facts: Told = {}
    parts = sections(text)
    for part in parts:
        for reading in _OF_SECTIONS:
            facts |= {name: value for name, value in reading(part).items() if value is not None}
    facts |= read_groups(parts)
    for whole in _OF_TEXTS:
        facts |= {name: value for name, value in whole(text).items() if value is not None}
    if host := host_of(facts.get("virt"), facts.get("kernel")):
        facts["guest_of"] = host
    return facts


def _limit(part: Section) -> Told:
    """cpu.max as the only line of a file that nothing names."""
    lines = [line.strip() for line in part.lines if line.strip()]
    if part.title or len(lines) != 1 or not _MAX.fullmatch(lines[0]):
        return {}
    return {"quota_told": True, "quota_cpus": quota_cores(lines[0])}


def _virt(part: Section) -> Told:
    words = part.body.split()
    asked = "systemd-detect-virt" in part.title or (not part.title and len(words) == 1)
    return {"virt": words[0]} if asked and words and words[0] in KINDS else {}


def _count(part: Section) -> Told:
    words = part.body.split()
    return (
        {"cpus": int(words[0])}
        if _COUNT.search(part.title) and words and words[0].isdecimal()
        else {}
    )


def _named_file(part: Section) -> Told:
    """Files that only their path explains."""
    body = part.body.strip()
    facts: Told = {}
    for path in part.paths:
        if path == "/proc/cmdline" and body:
            facts["kernel_cmdline"] = body.split("\n")[0][:2000]
        elif path.startswith("/proc/pressure/"):
            facts |= read_pressure(path.rpartition("/")[2], body)
        elif path.endswith("/scaling_driver") and _WORD.fullmatch(body.split("\n")[0]):
            facts["scaling_driver"] = body.split("\n")[0]
        elif path.endswith("/scaling_cur_freq"):  # kHz, one core a line
            khz = [word for word in body.split() if word.isdecimal()]
            facts["mhz_now"] = (*facts.get("mhz_now", ()), *(int(word) / 1000 for word in khz))
        elif path.endswith("/current_clocksource") and _WORD.fullmatch(body.split("\n")[0]):
            facts["clocksource"] = body.split("\n")[0]
        elif (array := _THREADS.match(path)) and body.isdecimal():
            facts["md_threads"] = {array[1]: int(body)}
    return facts


def _ports(text: str) -> Told:
    return {"rdma": read_rdma(text) or None}


def _affinity(text: str) -> Told:
    return {"cpus_allowed": read_affinity(text)}


def _arrays(text: str) -> Told:
    found = dict(_ARRAY.findall(text))
    return {"md_levels": found} if found else {}


def _up(text: str) -> Told:
    found = _UPTIME.search(text)
    if found is None:
        return {}
    days, hours, minutes, only, load = found.groups()
    up_s = int(days or 0) * 86_400 + int(hours or 0) * 3600 + int(minutes or only or 0) * 60
    return {"up_s": float(up_s), "load1": number(load)}


def _throttling(text: str) -> Told:
    return counters(text) if "nr_throttled" in text else {}


def _command_line(text: str) -> Told:
    found = _CMDLINE.search(text) if "root=" in text or "BOOT_IMAGE=" in text else None
    return {"kernel_cmdline": found["line"].strip()[:2000]} if found else {}


def _driver(text: str) -> Told:
    params = {name: value.strip() for name, value in _PARAM.findall(text)}
    power, module, library = (pattern.search(text) for pattern in (_D3, _MODULE, _LIBRARY))
    return {
        "nvidia_params": params or None,
        "runtime_d3": power[1].strip() if power else None,
        "nvidia_module": module[1] if module else None,
        "nvidia_library": library[1] if library else None,
        "nvidia_mismatch": True if _MISMATCH.search(text) else None,
        "nvml_unknown_error": True if _DENIED.search(text) else None,
        "fabric_manager": next((said for said, form in _FABRIC if form.search(text)), None),
    }


def _words(text: str) -> Told:
    policy, uname = _POLICY.search(text), _UNAME.search(text)
    return {
        "aspm_policy": policy[1] if policy else None,
        "kernel": uname[1] if uname else None,
        "supply_w": supply_w(text),
        "missing_paths": tuple(dict.fromkeys(one or other for one, other in _MISSING.findall(text)))
        or None,
    }


_OF_SECTIONS: tuple[Callable[[Section], Told], ...] = (
    _limit,
    _virt,
    _count,
    _named_file,
)
_OF_TEXTS: tuple[Callable[[str], Told], ...] = (
    read_lscpu, read_cpuinfo, read_governors, read_vmstat, read_mpstat, read_turbostat, read_mounts, read_free,
    read_meminfo, read_huge_pages, read_numa, read_dmi, read_unit, read_ulimits, read_rdma_counters, _ports,
    _affinity, _arrays, _up, _throttling, _command_line, _driver, _words,
)  # fmt: skip
