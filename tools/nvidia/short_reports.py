"""Short answers about GPUs: `nvidia-smi -L`, nvtop's header, gpustat, confidential computing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.nvidia.gpus import GpuProcess, Gpus, GpuSample
from tools.nvidia.values import mib, number, process_name

_LISTED = re.compile(r"GPU (\d+): (\S.{0,100}?) \(UUID: (?:GPU-)?[0-9a-fA-F-]{4,60}\)\s*$")
_MIG = re.compile(r"\s+MIG +\S+ +Device +\d+:")
_NVTOP = re.compile(
    r"\s*Device (\d+) \[([^\]]{1,100})\](?:.{0,80}?PCIe GEN *(\d)@ *(\d+)x)?(.{0,200})"
)
_NVTOP_RATE = re.compile(r"\b(RX|TX): ([\d.]+) ([KMG])iB/s")
_PER_MB = {"K": 1.024e-3, "M": 1.048576, "G": 1073.741824}  # nvtop counts in KiB/s
_GPUSTAT = re.compile(
    r"\[(\d+)\] (\S[^|]{0,100}?) *\| *(\d+|\?+) ?(?:'|\N{DEGREE SIGN})C, *(?:\d+ %, *)?(\d+|\?+) % *"
    r"(?:, *(\d+|\?+) */ *(\d+|\?+) W *)?\| *(\d+) */ *(\d+) M"
)
_CC = re.compile(r"^[ \t]*CC (?:status|State)[ \t]*: (ON|OFF)[ \t]*$", re.IGNORECASE | re.MULTILINE)
_HOLDER = re.compile(r"(\d{1,9}), (\S[^,\n]{0,300}), (\d{1,9} MiB|\[N/A\])\s*$")
_LONGEST = 400


def is_list(text: str) -> bool:
    """Say whether a text is `nvidia-smi -L`: its lines stand in `nvidia-smi nvlink` too."""
    if "nvlink" in text.lower():
        return False
    lines = [line for line in text.splitlines() if len(line) < _LONGEST]
    return any(_LISTED.match(line) for line in lines) and not any(
        " Link " in line for line in lines
    )


def read_list(text: str) -> Gpus:
    """Return a sample for each GPU, which tells its name and whether it is cut into MIG slices."""
    samples = list[GpuSample]()
    for line in text.splitlines():
        if len(line) < _LONGEST and (found := _LISTED.match(line)):
            samples.append(GpuSample(index=int(found[1]), name=found[2]))
        elif samples and len(line) < _LONGEST and _MIG.match(line):
            samples[-1] = samples[-1].model_copy(update={"mig": True})
    return Gpus(samples=tuple(samples))


def is_nvtop(text: str) -> bool:
    """Say whether a text holds nvtop's line for a GPU."""
    return any(
        _NVTOP.match(line)
        for line in text.splitlines()
        if "Device " in line[:40] and len(line) < _LONGEST
    )


def read_nvtop(text: str) -> Gpus:
    """Return each GPU's link and traffic, as nvtop shows them."""
    return Gpus(samples=tuple(_of_nvtop(text)))


def _of_nvtop(text: str) -> Iterator[GpuSample]:
    for line in text.splitlines():
        if len(line) < _LONGEST and (found := _NVTOP.match(line)):
            rates = {
                kind: float(value) * _PER_MB[unit]
                for kind, value, unit in _NVTOP_RATE.findall(found[5])
            }
            yield GpuSample(
                index=int(found[1]),
                name=found[2],
                link_gen=int(found[3]) if found[3] else None,
                link_width=int(found[4]) if found[4] else None,
                rx_mb_s=rates.get("RX"),
                tx_mb_s=rates.get("TX"),
            )


def is_confidential(text: str) -> bool:
    """Say whether a text holds the answer of `nvidia-smi conf-compute -f`."""
    return bool(_CC.search(text))


def read_confidential(text: str) -> Gpus:
    """Return whether confidential computing is on."""
    found = _CC.search(text)
    return Gpus(cc_on=found[1].upper() == "ON" if found else None)


def is_gpustat(text: str) -> bool:
    """Say whether a text holds gpustat's line for a GPU."""
    return any(
        _GPUSTAT.match(line)
        for line in text.splitlines()
        if line[:1] == "[" and len(line) < _LONGEST
    )


def read_gpustat(text: str) -> Gpus:
    """Return a sample for each line: heat, utilisation, memory, and power where it was asked for (-P)."""
    found = (
        _GPUSTAT.match(line)
        for line in text.splitlines()
        if line[:1] == "[" and len(line) < _LONGEST
    )
    return Gpus(
        samples=tuple(
            GpuSample(
                index=int(row[1]),
                name=row[2],
                temp_c=number(row[3]),
                util_pct=number(row[4]),
                power_w=number(row[5] or ""),
                power_limit_w=number(row[6] or ""),
                mem_used_mib=number(row[7]),
                mem_total_mib=number(row[8]),
            )
            for row in found
            if row
        )
    )


def is_holders(text: str) -> bool:
    """Say whether a text is `--query-compute-apps` without its header, and nothing else."""
    lines = [line for line in text.splitlines() if line.strip()]
    return bool(lines) and len(lines) < _LONGEST and all(map(_HOLDER.match, lines))


def read_holders(text: str) -> Gpus:
    """Return the processes that hold memory: process, name, memory."""
    rows = (_HOLDER.match(line) for line in text.splitlines())
    return Gpus(
        processes=tuple(
            GpuProcess(pid=int(row[1]), name=process_name(row[2]), used_mib=mib(row[3]))
            for row in rows
            if row
        )
    )
