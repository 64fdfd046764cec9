"""`nvidia-smi dmon`: a line for each GPU and second, in whichever columns were chosen; and `pmon`.

The header stands in two lines ("# gpu  rxpci  txpci", "# Idx  MB/s  MB/s") and returns now and then;
`-o DT` puts date and time first; `--format csv` puts commas between; "-" is not told.
The rows of pmon tell of processes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tools.nvidia.gpus import GpuProcess, Gpus, GpuSample
from tools.nvidia.values import number, process_name

_COLUMNS = {
    "pwr": "power_w",
    "gtemp": "temp_c",
    "temp": "temp_c",
    "mtemp": "mem_temp_c",
    "sm": "util_pct",
    "mem": "mem_util_pct",
    "mclk": "mem_mhz",
    "pclk": "sm_mhz",
    "rxpci": "rx_mb_s",
    "txpci": "tx_mb_s",
    "fb": "mem_used_mib",
    "pci": "replays",
    "gract": "util_pct",  # --gpm-metrics 1, where no column sm is printed
}
_COUNTED = frozenset({"replays"})
_HEADER = re.compile(r"#\s*(?:Date\s*,?\s*Time\s*,?\s*|Time\s*,?\s*)?(?:gpu|t)\b.{0,400}$")
_UNIT = re.compile(r"\([^)]*\)$")
_PID = "pid"
_MOST = 6000
_LONGEST = 600


def is_dmon(text: str) -> bool:
    """Say whether a text holds a header of dmon."""
    return any(
        _columns(line)
        for line in text.splitlines()
        if line.startswith("#") and len(line) < _LONGEST
    )


def read_dmon(text: str) -> Gpus:
    """Return a sample for each row of dmon, a process for each of pmon."""
    columns, samples = list[str](), list[GpuSample]()
    processes: dict[tuple[int | None, int], GpuProcess] | None = None
    for line in text.splitlines():
        if len(line) > _LONGEST or not line.strip():
            continue
        if line.startswith("#"):
            columns = _columns(line) or columns
            processes = processes or {} if _PID in columns else processes
        elif _PID in columns and processes is not None:
            processes |= _process(columns, line)
        elif columns and (sample := _sample(columns, re.split(r"[,\s]+", line.strip()))):
            samples.append(sample)
    held = None if processes is None else tuple(processes.values())
    return Gpus(samples=tuple(samples[-_MOST:]), processes=held)


def _process(columns: Sequence[str], line: str) -> dict[tuple[int | None, int], GpuProcess]:
    """Return the process of a row of pmon, keyed so that a later row replaces an earlier one."""
    row = dict(zip(columns, line.split(), strict=False))
    gpu, pid = row.get("gpu", ""), row.get(_PID, "")
    if not (gpu.isdecimal() and pid.isdecimal()):
        return {}
    name, used = process_name(row.get("command", "")), number(row.get("fb", ""))
    return {(int(gpu), int(pid)): GpuProcess(gpu=int(gpu), pid=int(pid), name=name, used_mib=used)}


def _columns(line: str) -> list[str]:
    """Return the columns that a header names; empty where the line is none."""
    if not _HEADER.match(line):
        return []
    names = [_UNIT.sub("", name).lower() for name in re.split(r"[,\s]+", line.lstrip("# ").strip())]
    return names if {*_COLUMNS, _PID} & set(names) else []


def _sample(columns: Sequence[str], cells: Sequence[str]) -> GpuSample | None:
    if len(cells) != len(columns) or not (cells[0] == "-" or cells[0][0].isdecimal()):
        return None
    row = dict(zip(columns, cells, strict=True))
    told: dict[str, Any] = {}
    for column, field in _COLUMNS.items():
        value = number(row.get(column, ""))
        if value is not None and field not in told:
            told[field] = int(value) if field in _COUNTED else value
    if not told:
        return None
    index = row.get("gpu", "")
    return GpuSample(
        index=int(index) if index.isdecimal() else None, at=_at(row), reasons=_reasons(row), **told
    )


def _at(row: dict[str, str]) -> str | None:
    """Return date and time (`-o DT` prints 20260711 10:22:33), or the seconds of a column t."""
    date, time = row.get("date", ""), row.get("time", "")
    if re.fullmatch(r"\d{8}", date):
        return f"{date[:4]}-{date[4:6]}-{date[6:]}T{time}"
    return time or row.get("t")


def _reasons(row: dict[str, str]) -> frozenset[str] | None:
    """Return what the violation columns (`-s v`) say: time below the clock for power or heat."""
    told = {
        name: number(row[c])
        for c, name in (("pviol", "sw_power_cap"), ("tviol", "sw_thermal_slowdown"))
        if c in row
    }
    if not told or all(value is None for value in told.values()):
        return None
    return frozenset(name for name, value in told.items() if value)
