"""The full report of one GPU as paths and values, whichever way nvidia-smi printed it.

`nvidia-smi -q` and `nvidia-smi -q -x` tell the same tree under two spellings, and both changed over
drivers 418 to 595 (captures of nvidia_gpu_exporter, e656cd8). A path here is the end of the path in
the tree, lower case, words joined by `_`; where several are named, the first that is told counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tools.nvidia.gpus import GpuSample
from tools.nvidia.values import bdf, count, mb_s, mib, number, pstate, reason, switch, text

Report = dict[str, str]
"""A value for each path, "pci/gpu_link_info/pcie_generation/max"; in the order printed."""

# What lies below these describes a part of a GPU, or lists what we do not read.
SKIPPED = frozenset(
    {
        "mig_devices",
        "mig_device",
        "supported_clocks",
        "accounted_processes",
        "module_power_readings",
    }
    | {"gpu_memory_power_readings", "aggregate_uncorrectable_sram_sources"}
)

_READ: dict[str, tuple[Callable[[str], Any], str]] = {
    "name": (text, "product_name"),
    "bdf": (bdf, "gpu_id pci/bus_id pci/pci_bus_id"),
    "pstate": (pstate, "performance_state"),
    "util_pct": (number, "utilization/gpu utilization/gpu_util"),
    "mem_util_pct": (number, "utilization/memory utilization/memory_util"),
    "link_gen": (
        count,
        "pcie_generation/device_current pcie_gen/device_current_link_gen "
        "pcie_generation/current pcie_gen/current_link_gen",
    ),
    "link_gen_max": (count, "pcie_generation/max pcie_gen/max_link_gen"),
    "link_gen_gpumax": (count, "pcie_generation/device_max pcie_gen/max_device_link_gen"),
    "link_gen_hostmax": (count, "pcie_generation/host_max pcie_gen/max_host_link_gen"),
    "link_width": (count, "link_width/current link_widths/current_link_width"),
    "link_width_max": (count, "link_width/max link_widths/max_link_width"),
    "sm_mhz": (number, "clocks/sm clocks/sm_clock"),
    "sm_max_mhz": (number, "max_clocks/sm max_clocks/sm_clock"),
    "mem_mhz": (number, "clocks/memory clocks/mem_clock"),
    "mem_max_mhz": (number, "max_clocks/memory max_clocks/mem_clock"),
    "power_w": (
        number,
        "power_readings/instantaneous_power_draw power_readings/instant_power_draw "
        "gpu_power_readings/instantaneous_power_draw "
        "gpu_power_readings/instant_power_draw gpu_power_readings/average_power_draw "
        "gpu_power_readings/power_draw power_readings/power_draw",
    ),
    "power_limit_w": (
        number,
        "power_readings/enforced_power_limit gpu_power_readings/enforced_power_limit "
        "gpu_power_readings/current_power_limit power_readings/current_power_limit "
        "power_readings/power_limit",
    ),
    "power_default_w": (
        number,
        "power_readings/default_power_limit gpu_power_readings/default_power_limit",
    ),
    "power_max_w": (number, "power_readings/max_power_limit gpu_power_readings/max_power_limit"),
    "temp_c": (number, "temperature/gpu_current_temp temperature/gpu_temp"),
    "mem_temp_c": (number, "temperature/memory_current_temp temperature/memory_temp"),
    "slowdown_temp_c": (
        number,
        "temperature/gpu_slowdown_temp temperature/gpu_temp_slow_threshold",
    ),
    "fan_pct": (number, "fan_speed"),
    "mem_total_mib": (mib, "fb_memory_usage/total"),
    "mem_used_mib": (mib, "fb_memory_usage/used"),
    "bar1_mib": (mib, "bar1_memory_usage/total"),
    "ecc_on": (switch, "ecc_mode/current ecc_mode/current_ecc"),
    "remap_failed": (
        switch,
        "remapped_rows/remapping_failure_occurred remapped_rows/remapped_row_failure",
    ),
    "remap_pending": (
        switch,
        "remapped_rows/pending remapped_rows/remapped_row_pending "
        "retired_pages/pending_page_blacklist retired_pages/pending_page_retirement "
        "retired_pages/pending_blacklist retired_pages/pending_retirement",
    ),
    "remapped_uncorrectable": (
        count,
        "remapped_rows/uncorrectable_error remapped_rows/remapped_row_unc",
    ),
    "replays": (count, "pci/replays_since_reset pci/replay_counter"),
    "rx_mb_s": (mb_s, "pci/rx_throughput pci/rx_util"),
    "tx_mb_s": (mb_s, "pci/tx_throughput pci/tx_util"),
    "mig": (switch, "mig_mode/current mig_mode/current_mig"),
    "persistence": (switch, "persistence_mode"),
    "licence": (text, "license_status"),
    "fabric": (text, "fabric/state"),
}
_REASON_SECTIONS = ("clocks_event_reasons", "clocks_throttle_reasons")
_RETIRED = (
    "retired_pages/single_bit_ecc multiple_single_bit_retirement/retired_count",
    "retired_pages/double_bit_ecc double_bit_retirement/retired_count",
)
_ECC = {
    "ecc_corrected": ("volatile", True),
    "ecc_uncorrected": ("volatile", False),
    "ecc_corrected_life": ("aggregate", True),
    "ecc_uncorrected_life": ("aggregate", False),
}
_SLOWS_AT = "temperature/gpu_slowdown_t_limit_temp temperature/gpu_temp_slow_tlimit_threshold"
_TAIL = 3  # names at the end of a path that can be looked up


def sample_of(
    report: Report, *, index: int | None = None, at: str | None = None
) -> GpuSample | None:
    """Return what a report tells of its GPU, None where it tells nothing that is known."""
    ends = _ends(report)
    told: dict[str, Any] = {
        field: _first(ends, read, paths) for field, (read, paths) in _READ.items()
    }
    told |= {field: _ecc(report, when, corrected=kind) for field, (when, kind) in _ECC.items()}
    told["slowdown_temp_c"] = told["slowdown_temp_c"] or _slowdown(ends, told["temp_c"])
    told["reasons"] = _active(report)
    told["reason_us"] = dict(_counters(report))
    told["recovery_action"] = _recovery(ends)
    pages = [found for paths in _RETIRED if (found := _first(ends, count, paths)) is not None]
    told["retired_pages"] = sum(pages) if pages else None
    known = {field: value for field, value in told.items() if value is not None and value != {}}
    return GpuSample(index=index, at=at, **known) if known else None


def _ends(report: Report) -> dict[str, str]:
    ends: dict[str, str] = {}
    for path, value in report.items():
        names = path.split("/")
        if SKIPPED.isdisjoint(names[:-1]):
            ends.setdefault(names[-1], value)
            for length in range(2, min(_TAIL, len(names)) + 1):
                ends.setdefault("/".join(names[-length:]), value)
    return ends


def _first(ends: Mapping[str, str], read: Callable[[str], Any], paths: str) -> Any:
    for path in paths.split():
        if path in ends and (value := read(ends[path])) is not None:
            return value
    return None


def _in(report: Report, section: str) -> Iterator[tuple[str, str]]:
    """Give name and value of what stands in a section, at any depth."""
    for path, value in report.items():
        if section in path:
            head, _, name = path.rpartition("/")
            if section in head.split("/"):
                yield name, value


def _active(report: Report) -> frozenset[str] | None:
    """Return the active reasons; None where no reason says whether it is active."""
    sections = [pair for section in _REASON_SECTIONS for pair in _in(report, section)]
    bare = [(path, value) for path, value in report.items() if "/" not in path]  # what a grep left
    told = {
        name: switch(value)
        for spelt, value in sections or bare
        if (name := reason(spelt)) and switch(value) is not None
    }
    return frozenset(name for name, on in told.items() if on) - {"gpu_idle"} if told else None


def _counters(report: Report) -> Iterator[tuple[str, int]]:
    for section in _REASON_SECTIONS:
        for spelt, value in _in(report, f"{section}_counters"):
            name, spent = reason(spelt), count(value)
            if name and spent is not None:
                yield name, spent


def _ecc(report: Report, when: str, *, corrected: bool) -> int | None:
    """Return a count of ECC errors: the total of the old scheme, else the sum over the new one's kinds."""
    bits, section = "single_bit" if corrected else "double_bit", f"ecc_errors/{when}/"
    parts = [(path, count(value)) for path, value in report.items() if section in path]
    for path, total in parts:
        if path.endswith(f"{bits}/total") and total is not None:
            return total
    names = [(path.rpartition("/")[2], found) for path, found in parts if found is not None]
    counted = [
        n
        for name, n in names
        if "correctable" in name and ("uncorrectable" not in name) is corrected
    ]
    return sum(counted) if counted else None


def _slowdown(ends: Mapping[str, str], temp_c: float | None) -> float | None:
    """Return the slowdown temperature of a GPU that tells only its distance to it.

    From Hopper on thresholds are margins ("T.Limit"): the GPU slows when its margin falls to the
    slowdown one, so the temperature is today's plus the difference.
    """
    margin = _first(ends, number, "temperature/gpu_t_limit_temp temperature/gpu_temp_tlimit")
    slows_at = _first(ends, number, _SLOWS_AT)
    if temp_c is None or margin is None or slows_at is None:
        return None
    return float(temp_c + margin - slows_at)


def _recovery(ends: Mapping[str, str]) -> str | None:
    """Return what the driver says must be done: `gpu_recovery_action`, before 590 a reset status."""
    if action := ends.get("gpu_recovery_action"):
        return action.strip()[:80]
    if switch(ends.get("reset_required", "")):
        return "Reset"
    if switch(ends.get("drain_and_reset_recommended", "")):
        return "Drain and Reset"
    return "None" if switch(ends.get("reset_required", "")) is False else None
