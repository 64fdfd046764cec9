"""The table that `nvidia-smi` prints without arguments, drivers 418 to 595, and its process table.

Two lines tell of a GPU, a third of MIG. The cells were widened and moved with driver 535; here they
are found by what stands in them. Long product names are cut there ("NVIDIA RTX 6000 Ada Gene...").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tools.nvidia.gpus import GpuProcess, Gpus, GpuSample
from tools.nvidia.values import bdf, mib, moment, number, process_name, pstate, switch, text

_HEAD = re.compile(r"\| NVIDIA-SMI +\S+ +(?:KMD Version|Driver Version): +(?P<driver>[\d.]+)")
_CUDA = re.compile(r"CUDA (?:UMD )?Version: +(\d+\.\d+)")
_FIRST = re.compile(
    r"\| +(?P<index>\d+) +(?P<name>\S.*?) +(?P<mode>On|Off|WDDM|TCC|MCDM|N/A|ERR!) *\|"
    r" +(?P<bdf>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d) +(?P<display>\S+) *\| *(?P<ecc>.*?) *\|"
)
_SECOND = re.compile(
    r"\| *(?P<fan>N/A|ERR!|\d+%) +(?P<temp>N/A|ERR!|\d+C) +(?P<perf>P\d+|N/A|ERR!)"
    r" +(?P<power>\S+) */ *(?P<limit>[^|\s]+) *\| *(?P<mem>[^|]*?) *\| *(?P<util>N/A|ERR!|\d+%)"
)
_MIG = re.compile(r"\|[^|]*\|[^|]*\| +(Enabled|Disabled|N/A)\*? *\|$")
_PROCESS = re.compile(
    r"\| +(?P<gpu>\d+) +(?:(?:N/A|\d+) +(?:N/A|\d+) +)?(?P<pid>\d+) +(?P<type>C\+G|M\+C|C|G) +(?P<name>\S.*?)"
    r" +(?P<used>\d+MiB|N/A|Insufficient Permissions|Not Supported)? *\|$"
)
_LONGEST = 300


def is_table(said: str) -> bool:
    """Say whether a text holds the table of `nvidia-smi`."""
    return "| NVIDIA-SMI " in said or "Volatile Uncorr. ECC |" in said


def read_table(said: str) -> Gpus:
    """Return the GPUs and processes of all tables in a text, in their order."""
    lines = [line.strip() for line in said.splitlines() if len(line) < _LONGEST]
    head = next((found for line in lines if (found := _HEAD.match(line))), None)
    cuda = next(
        (found for line in lines if (found := _CUDA.search(line)) and line.startswith("|")), None
    )
    return Gpus(
        driver=head["driver"] if head else None,
        cuda=cuda[1] if cuda else None,
        samples=tuple(_samples(lines)),
        processes=_processes(lines),
    )


def _samples(lines: list[str]) -> Iterator[GpuSample]:
    at: str | None = None
    told: dict[str, Any] = {}
    for line in lines:
        if not line.startswith("|"):
            at = (moment(line) or at) if line[:1].isalnum() else at
        elif first := _FIRST.match(line):
            if told:
                yield GpuSample(**told)
            told = _first_line(first) | {"at": at}
        elif told:
            told |= _further_line(line)
    if told:
        yield GpuSample(**told)


def _further_line(line: str) -> dict[str, Any]:
    """Return what the second or third line of a GPU tells; nothing for any other line."""
    if second := _SECOND.match(line):
        return _second_line(second)
    mig = _MIG.match(line)
    return {"mig": switch(mig[1])} if mig else {}


def _first_line(found: re.Match[str]) -> dict[str, Any]:
    ecc = number(found["ecc"])
    return {
        "index": int(found["index"]),
        "name": text(found["name"]),
        "bdf": bdf(found["bdf"]),
        "persistence": switch(found["mode"]),
        # The cell counts uncorrectable errors, or says that ECC is off, or that there is none.
        "ecc_on": True if ecc is not None else switch(found["ecc"]),
        "ecc_uncorrected": None if ecc is None else int(ecc),
    }


def _second_line(found: re.Match[str]) -> dict[str, Any]:
    used, _, total = found["mem"].partition("/")
    return {
        "fan_pct": number(found["fan"]),
        "temp_c": number(found["temp"]),
        "pstate": pstate(found["perf"]),
        "power_w": number(found["power"]),
        "power_limit_w": number(found["limit"]),
        "mem_used_mib": mib(used) if total else None,
        "mem_total_mib": mib(total),
        "util_pct": number(found["util"]),
    }


def _processes(lines: list[str]) -> tuple[GpuProcess, ...] | None:
    """Return the processes; None where no table of them was printed, or the system does not tell."""
    starts = [n for n, line in enumerate(lines) if line.startswith("| Processes:")]
    if not starts:
        return None
    rows = lines[starts[-1] :]  # of several tables the last: who holds a GPU now
    if any(
        line.startswith("|") and "Not Supported" in line and not _PROCESS.match(line)
        for line in rows
    ):
        return None
    found = [row for line in rows if (row := _PROCESS.match(line))]
    return tuple(
        GpuProcess(
            gpu=int(r["gpu"]),
            pid=int(r["pid"]),
            name=process_name(r["name"]),
            used_mib=mib(r["used"] or ""),
        )
        for r in found
    )
