"""Accelerators by the name NVML prints: bandwidth, arithmetic, link and memory, with sources.

The data lies beside this file in gpus.json, which says where each entry comes from and which of
its fields need a second source.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

# What may follow a product's name without making it another product.
_SAME = re.compile(r"(?:[ -](?:\d+GB|Generation|Edition|Workstation Edition|Server Edition|OAM))*$")


class GpuNvlink(BaseModel):
    """The NVLink of a product: vendor figure in GB/s, all links, both directions together."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    gen: str
    both_ways_gb_s: float
    kind: str  # "bridge", "nvswitch_or_mesh", "c2c+nvlink", "nvl72", "mesh"


class Gpu(BaseModel):
    """One product. TFLOPS are dense; None where it has no such arithmetic or none is known."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    pattern: str
    arch: str
    sm: str
    mem_gb: float
    bandwidth_gb_s: float
    bf16_tflops: float | None = None
    fp16_tflops: float | None = None
    fp8_tflops: float | None = None
    fp4_tflops: float | None = None
    tdp_w: float
    pcie_gen: int
    pcie_width: int
    pcie_p2p: bool  # the stock driver grants peer access over PCIe
    memory: str  # kind: "gddr6x", "hbm2e"
    decode_fraction: float  # of the bandwidth, reached by the reading kernels of a decode step
    prefill_mfu: float  # of the dense bf16 peak
    nvlink: GpuNvlink | None = None
    mib_ecc_on: int | None = None
    mib_ecc_off: int | None = None
    mem_max_mhz: float | None = None
    mem_cuda_mhz: float | None = None  # memory clock while CUDA runs (P2)
    stream_read_gb_s: float | None = None
    power_min_w: float | None = None
    sources: tuple[str, ...]
    uncertain: tuple[str, ...] = ()
    note: str = ""

    @property
    def hbm(self) -> bool:
        """Say whether it has stacked memory."""
        return self.memory.startswith("hbm")

    @property
    def tflops(self) -> float | None:
        """Return the dense 16-bit rate: bf16, or fp16 where there is no bf16."""
        return self.bf16_tflops or self.fp16_tflops


@cache
def all_gpus() -> tuple[Gpu, ...]:
    """Return every product that is known."""
    data = json.loads((files(__package__) / "gpus.json").read_text(encoding="utf-8"))
    return tuple(Gpu.model_validate(entry) for entry in data["gpus"])


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], Gpu], ...]:
    return tuple((re.compile(rf"(?:^|[ ])({gpu.pattern})(?![\w])"), gpu) for gpu in all_gpus())


@cache
def gpu_named(name: str) -> Gpu | None:
    """Return the product of a name as NVML or nvidia-smi prints it; None where none fits surely.

    A laptop part, a slice (MIG, vGPU profile) and a variant with other memory ("H20-3e", "3080 Ti")
    is another product than the name it begins with, so it is not known either.
    """
    fits = []
    for pattern, gpu in _patterns():
        found = pattern.search(name.strip())
        if found and _SAME.match(name.strip(), found.end()):
            fits.append((len(found[1]), gpu))
    return max(fits, key=lambda fit: fit[0])[1] if fits else None
