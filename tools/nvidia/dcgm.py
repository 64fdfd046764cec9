"""DCGM: the page of dcgm-exporter (DCGM_FI_*) and the columns of `dcgmi dmon`.

Names and units of dcgm_fields.h of DCGM 3.3 to 4.4 and of the exporter's default counters: clocks in
MHz, power in W, memory in MiB, profiled PCIe traffic in bytes a second. Field 112, the clock reasons,
is NVML's mask. Two pages in one text are two looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tools.nvidia.gpus import Gpus, GpuSample
from tools.nvidia.values import bdf, reasons

_LINE = re.compile(
    r"DCGM_FI_([A-Z]\w{1,60})\{([^}\n]{1,2000})\}\s+(-?[\d.]{1,24}(?:[eE][+-]?\d{1,3})?)"
)
_LABEL = re.compile(r'(\w{1,40})="([^"\\\n]{0,200})"')
_FLOATS = {
    "DEV_SM_CLOCK": "sm_mhz", "DEV_MEM_CLOCK": "mem_mhz", "DEV_MAX_SM_CLOCK": "sm_max_mhz",
    "DEV_MAX_MEM_CLOCK": "mem_max_mhz", "DEV_GPU_TEMP": "temp_c", "DEV_MEMORY_TEMP": "mem_temp_c",
    "DEV_POWER_USAGE": "power_w", "DEV_ENFORCED_POWER_LIMIT": "power_limit_w",
    "DEV_POWER_MGMT_LIMIT_DEF": "power_default_w",
    "DEV_GPU_UTIL": "util_pct", "DEV_MEM_COPY_UTIL": "mem_util_pct", "DEV_FB_USED": "mem_used_mib",
    "DEV_FB_TOTAL": "mem_total_mib", "DEV_SLOWDOWN_TEMP": "slowdown_temp_c", "DEV_FAN_SPEED": "fan_pct",
    "PROF_GR_ENGINE_ACTIVE": "engine_active",
}  # fmt: skip
_COUNTS = {
    "DEV_PCIE_REPLAY_COUNTER": "replays", "DEV_PCIE_LINK_GEN": "link_gen", "DEV_PCIE_MAX_LINK_GEN": "link_gen_max",
    "DEV_PCIE_LINK_WIDTH": "link_width", "DEV_PCIE_MAX_LINK_WIDTH": "link_width_max", "DEV_PSTATE": "pstate",
    "DEV_ECC_SBE_VOL_TOTAL": "ecc_corrected", "DEV_ECC_DBE_VOL_TOTAL": "ecc_uncorrected",
    "DEV_ECC_SBE_AGG_TOTAL": "ecc_corrected_life", "DEV_ECC_DBE_AGG_TOTAL": "ecc_uncorrected_life",
    "DEV_UNCORRECTABLE_REMAPPED_ROWS": "remapped_uncorrectable",
}  # fmt: skip
_SWITCHES = {"DEV_ROW_REMAP_FAILURE": "remap_failed", "DEV_ROW_REMAP_PENDING": "remap_pending"}
_NVLINK = ("PROF_NVLINK_TX_BYTES", "PROF_NVLINK_RX_BYTES")
_TRAFFIC = {"PROF_PCIE_TX_BYTES": "tx_mb_s", "PROF_PCIE_RX_BYTES": "rx_mb_s"}
_REASONS = frozenset({"DEV_CLOCK_THROTTLE_REASONS", "DEV_CLOCKS_EVENT_REASONS"})
# dcgm_structs.h: what is not told is one of four numbers below 2^31, or this double and more.
_BLANKS, _BLANK = range(0x7FFFFFF0, 0x7FFFFFF4), 140737488355328.0
_HEAD = re.compile(r"# ?Entity +(\S.{1,300}?)\s*$")
_ROW = re.compile(r"GPU (\d{1,3})((?:\s+(?:-?\d[\d.]{0,24}|N/A))+)\s*$")
_COLUMNS = {
    "GPUTL": "util_pct", "MCUTL": "mem_util_pct", "SMCLK": "sm_mhz", "MMCLK": "mem_mhz", "POWER": "power_w",
    "TMPTR": "temp_c", "MMTMP": "mem_temp_c", "FBUSD": "mem_used_mib",
}  # fmt: skip
_BYTES = {"PCITX": "tx_mb_s", "PCIRX": "rx_mb_s"}
_MOST, _LONGEST = 6000, 2400


def is_dcgm(text: str) -> bool:
    """Say whether a text holds a line of the exporter, or the head of `dcgmi dmon`."""
    return any(
        _LINE.match(line) or _HEAD.match(line)
        for line in text.splitlines()
        if line[:8] in ("DCGM_FI_", "#Entity ", "# Entity") and len(line) < _LONGEST
    )


def read_dcgm(text: str) -> Gpus:
    """Return a sample for each GPU of each page, and for each row of dmon."""
    lines = [line for line in text.splitlines() if len(line) < _LONGEST]
    samples, driver = _exported(lines)
    return Gpus(driver=driver, samples=tuple([*samples, *_watched(lines)][-_MOST:]))


def _exported(lines: list[str]) -> tuple[list[GpuSample], str | None]:
    told: list[dict[str, dict[str, Any]]] = [{}]
    seen: set[tuple[str, str]] = set()
    driver = None
    for line in lines:
        found = _LINE.match(line) if line.startswith("DCGM_FI_") else None
        if found is None:
            continue
        labels = dict(_LABEL.findall(found[2]))
        gpu, value = labels.get("gpu", ""), float(found[3])
        if not gpu.isdecimal() or labels.get("GPU_I_ID") or value in _BLANKS or value >= _BLANK:
            continue
        if (gpu, found[1]) in seen:
            told.append({})
            seen = set()
        seen.add((gpu, found[1]))
        driver = labels.get("DCGM_FI_DRIVER_VERSION", driver)
        sample = told[-1].setdefault(gpu, _card(gpu, labels))
        sample.update(_value(found[1], value))
        if found[1] in _NVLINK:
            sample["nvlink_mb_s"] = sample.get("nvlink_mb_s", 0.0) + value / 1e6
    return [GpuSample(**sample) for page in told for sample in page.values()], driver


def _card(gpu: str, labels: dict[str, str]) -> dict[str, Any]:
    return {
        "index": int(gpu),
        "name": labels.get("modelName"),
        "bdf": bdf(labels.get("pci_bus_id", "")),
    }


def _value(field: str, value: float) -> dict[str, Any]:
    """Return what one line tells, by the name of our field."""
    if field in _FLOATS:
        return {_FLOATS[field]: value}
    if field in _COUNTS:
        return {_COUNTS[field]: int(value)}
    if field in _SWITCHES:
        return {_SWITCHES[field]: value > 0}
    if field in _TRAFFIC:
        return {_TRAFFIC[field]: value / 1e6}
    return {"reasons": reasons(int(value))} if field in _REASONS else {}


def _watched(lines: list[str]) -> Iterator[GpuSample]:
    columns: list[str] = []
    for line in lines:
        if head := _HEAD.match(line):
            columns = head[1].split()
        elif columns and (row := _ROW.match(line)):
            told = dict(zip(columns, row[2].split(), strict=False))
            values = {name: float(cell) for name, cell in told.items() if _is_number(cell)}
            fields = {field: values[name] for name, field in _COLUMNS.items() if name in values}
            fields |= {
                field: values[name] / 1e6 for name, field in _BYTES.items() if name in values
            }
            yield GpuSample(index=int(row[1]), **fields)


def _is_number(cell: str) -> bool:
    return bool(re.fullmatch(r"\d{1,15}(?:\.\d{1,9})?", cell))
