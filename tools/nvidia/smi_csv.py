"""`nvidia-smi --query-gpu=... --format=csv`, whichever fields were asked for, one look or many.

Fields have two spellings over the drivers (clocks_throttle_reasons, clocks_event_reasons) and
aliases (clocks.sm, clocks.current.sm); `nvidia-smi --help-query-gpu` of 595.80 lists them. Units
stand in the header, in the cells, or (nounits) in the header alone. Without a header the fields
are taken from the command, where it stands above.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tools.nvidia.gpus import GpuProcess, Gpus, GpuSample
from tools.nvidia.values import (
    bdf,
    bits,
    count,
    mib,
    moment,
    number,
    process_name,
    pstate,
    reason,
    reasons,
    switch,
    text,
)

MOST = 6000  # samples kept of one text, the newest; a watch of a quarter of an hour on eight GPUs

_FIELDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "timestamp": ("at", moment),
    "index": ("index", count),
    "name": ("name", text),
    "gpu_name": ("name", text),
    "pci.bus_id": ("bdf", bdf),
    "gpu_bus_id": ("bdf", bdf),
    "pstate": ("pstate", pstate),
    "utilization.gpu": ("util_pct", number),
    "utilization.memory": ("mem_util_pct", number),
    "pcie.link.gen.current": ("link_gen", count),
    "pcie.link.gen.gpucurrent": ("link_gen", count),
    "pcie.link.gen.max": ("link_gen_max", count),
    "pcie.link.gen.gpumax": ("link_gen_gpumax", count),
    "pcie.link.gen.hostmax": ("link_gen_hostmax", count),
    "pcie.link.width.current": ("link_width", count),
    "pcie.link.width.max": ("link_width_max", count),
    "clocks.sm": ("sm_mhz", number),
    "clocks.current.sm": ("sm_mhz", number),
    "clocks.max.sm": ("sm_max_mhz", number),
    "clocks.mem": ("mem_mhz", number),
    "clocks.current.memory": ("mem_mhz", number),
    "clocks.max.mem": ("mem_max_mhz", number),
    "clocks.max.memory": ("mem_max_mhz", number),
    "power.draw.average": ("power_w", number),
    "power.draw": ("power_w", number),
    "power.draw.instant": ("power_w", number),
    "power.limit": ("power_limit_w", number),
    "enforced.power.limit": ("power_limit_w", number),
    "power.default_limit": ("power_default_w", number),
    "power.max_limit": ("power_max_w", number),
    "temperature.gpu": ("temp_c", number),
    "temperature.memory": ("mem_temp_c", number),
    "fan.speed": ("fan_pct", number),
    "memory.total": ("mem_total_mib", mib),
    "memory.used": ("mem_used_mib", mib),
    "ecc.mode.current": ("ecc_on", switch),
    "ecc.errors.corrected.volatile.total": ("ecc_corrected", count),
    "ecc.errors.uncorrected.volatile.total": ("ecc_uncorrected", count),
    "ecc.errors.corrected.aggregate.total": ("ecc_corrected_life", count),
    "ecc.errors.uncorrected.aggregate.total": ("ecc_uncorrected_life", count),
    "remapped_rows.pending": ("remap_pending", switch),
    "retired_pages.pending": ("remap_pending", switch),
    "remapped_rows.failure": ("remap_failed", switch),
    "remapped_rows.uncorrectable": ("remapped_uncorrectable", count),
    "compute_cap": ("compute_cap", text),
    "mig.mode.current": ("mig", switch),
    "persistence_mode": ("persistence", switch),
    "gpu_recovery_action": ("recovery_action", text),
    "fabric.state": ("fabric", text),
}
_LATER_WINS = ("power.draw.instant", "enforced.power.limit", "pcie.link.gen.gpucurrent")
_OF_PROCESSES = frozenset({"pid", "process_name", "used_gpu_memory", "used_memory"})
_MASKS = frozenset({"clocks_event_reasons.active", "clocks_throttle_reasons.active"})
_REASON = re.compile(r"clocks_(?:event|throttle)_reasons(?P<counter>_counters)?\.(?P<name>\w+)")
_ASKED = re.compile(r"--query-(?:gpu|compute-apps|remapped-rows)[= ][\"']?([\w.,]{3,4000})")
_OTHERS = frozenset({"driver_version", "count", "uuid", "gpu_uuid", "serial", "gpu_serial", "date"})
_UNIT = re.compile(r" *\[[^\]]*\]$")
_LONGEST = 8000


def is_csv(text_: str) -> bool:
    """Say whether a text holds a header (or the command) and rows of `--query-gpu` or its kin."""
    return next(_tables(text_), None) is not None


def read_csv(text_: str) -> Gpus:
    """Return the samples of all tables in a text, in their order; later rows are later looks."""
    newest = deque(_tables(text_), maxlen=MOST)
    return Gpus.united(_read(fields, rows[-MOST:]) for fields, rows in newest)


def _read(fields: Sequence[str], rows: Sequence[Sequence[str]]) -> Gpus:
    if _OF_PROCESSES.intersection(fields) and "pid" in fields:
        return Gpus(processes=tuple(_processes(fields, rows)))
    samples = (_sample(fields, row) for row in rows)
    drivers = (
        [row[fields.index("driver_version")] for row in rows] if "driver_version" in fields else []
    )
    counts = [row[fields.index("count")] for row in rows] if "count" in fields else []
    return Gpus(
        driver=text(drivers[-1]) if drivers else None,
        attached=count(counts[-1]) if counts else None,
        samples=tuple(sample for sample in samples if sample),
    )


def _tables(text_: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Give each header with the rows below it."""
    fields, rows = list[str](), list[list[str]]()
    for line in text_.splitlines():
        if not line.strip() or len(line) > _LONGEST:
            continue
        header = _header(line)
        if header:
            if rows:
                yield fields, rows
            fields, rows = header, []
        elif fields and (row := _row(line, len(fields))):
            rows.append(row)
    if rows:
        yield fields, rows


def _header(line: str) -> list[str]:
    """Return the fields that a header names, or the command that a person pasted; empty if neither."""
    asked = _ASKED.search(line) if "--query-" in line else None
    if asked:
        return asked[1].strip(",").split(",")
    if "," not in line and line.strip().split(" ")[0] not in _FIELDS:
        return []
    names = list[str]()
    for cell in line.split(","):
        name = _UNIT.sub("", cell.strip())
        if not _is_field(name) or (not names and len(name) >= 80):
            return []  # most lines are rows, and their first cell tells
        names.append(name)
    return names


def _is_field(name: str) -> bool:
    known = name in _FIELDS or name in _OF_PROCESSES or name in _OTHERS or name in _MASKS
    return known or bool(re.fullmatch(r"[a-z_]+(?:\.[a-z0-9_]+)+", name))


def _row(line: str, width: int) -> list[str] | None:
    """Split a row at comma and blank: a bare comma may be the decimal point of a locale."""
    cells = re.split(r", +", line.strip())
    cells = cells if len(cells) == width else line.strip().split(",")
    return [cell.strip() for cell in cells] if len(cells) == width else None


def _sample(fields: Sequence[str], row: Sequence[str]) -> GpuSample | None:
    told: dict[str, Any] = {}
    active: set[str] | None = None
    spent: dict[str, int] = {}
    for field, cell in zip(fields, row, strict=True):
        if field in _FIELDS:
            name, read = _FIELDS[field]
            value = read(cell)
            if value is not None and (name not in told or field in _LATER_WINS):
                told[name] = value
        elif field in _MASKS and (mask := bits(cell)) is not None:
            told["reasons"] = reasons(mask)
        elif found := _REASON.fullmatch(field):
            active = _take_reason(found, cell, active, spent)
    if active is not None:
        told["reasons"] = told.get("reasons", frozenset()) | active
    if spent:
        told["reason_us"] = spent
    return GpuSample(**told) if told.keys() - {"at"} else None


def _take_reason(
    found: re.Match[str], cell: str, active: set[str] | None, spent: dict[str, int]
) -> set[str] | None:
    """Take a column of one reason: whether it is active, or how long it was."""
    name, us, on = reason(found["name"]), count(cell), switch(cell)
    if name and found["counter"] and us is not None:
        spent[name] = us
    elif name and not found["counter"] and on is not None:
        return (active or set()) | ({name} - {"gpu_idle"} if on else set())
    return active


def _processes(fields: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[GpuProcess]:
    for row in rows:
        told = dict(zip(fields, row, strict=True))
        pid = count(told.get("pid", ""))
        if pid is not None:
            used = told.get("used_gpu_memory") or told.get("used_memory") or ""
            yield GpuProcess(
                pid=pid, name=process_name(told.get("process_name", "")), used_mib=mib(used)
            )
