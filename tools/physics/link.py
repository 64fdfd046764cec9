"""What a message between GPUs costs, by the path it takes.

Forms and constants are fitted on the pairs of
tools/knowledge/links.json and on published latencies (8x RTX PRO 6000: custom 7.5 us at 256 B,
NCCL 24 us flat). Which path SGLang takes: its custom_all_reduce.py (0.5.10.post1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tools.errors import Undecided
from tools.knowledge.links import nvlink_gb_s, pcie_gb_s

CUSTOM_MAX_BYTES = 8 << 20  # SGLang: above it NCCL, custom_all_reduce.py
LL_MAX_BYTES = 64 << 10  # up to here NCCL's LL protocol sends every byte twice
ONE_SHOT_MAX_BYTES = 512 << 10  # all GPUs together: below it each reads all others


@dataclass(frozen=True)
class Link:
    """How one GPU reaches its peers. `raw_gb_s` is per direction, GPU to fabric."""

    raw_gb_s: float
    p2p: bool = True  # peer access usable; if not, NCCL stages through host memory (SHM)
    nvlink: bool = False
    custom: bool = True  # the engine's own all-reduce is in use
    name: str = ""

    @property
    def pcie_form(self) -> tuple[int, int] | None:
        """Return generation and width, or None where it is no PCIe link."""
        gen, found, width = self.name.removeprefix("PCIe Gen").partition(" x")
        return (int(gen), int(width)) if found else None

    @staticmethod
    def pcie(gen: int, width: int = 16, *, p2p: bool = True, custom: bool = True) -> Link:
        """Return a PCIe link; the custom all-reduce needs peer access."""
        raw = pcie_gb_s(gen, width)
        if raw is None:
            raise Undecided(f"the rate of PCIe Gen{gen} is not known")
        return Link(raw, p2p, custom=custom and p2p, name=f"PCIe Gen{gen} x{width}")

    @staticmethod
    def nv(raw_gb_s: float, *, custom: bool = True) -> Link:
        """Return an NVLink by its rate in GB/s per direction, all links of one GPU together."""
        return Link(raw_gb_s, nvlink=True, custom=custom, name="NVLink")

    @staticmethod
    def nv_kind(kind: str, *, custom: bool = True) -> Link:
        """Return an NVLink by its kind in links.json ("nvlink3_bridge")."""
        return Link.nv(nvlink_gb_s(kind), custom=custom)


ALONE = Link(1e9, name="one GPU")


def allreduce_us(size: float, gpus: int, link: Link) -> float:
    """Return the time of one all-reduce of `size` bytes, in microseconds."""
    if gpus == 1:
        return 0.0
    if link.custom and size <= CUSTOM_MAX_BYTES and (link.nvlink or gpus == 2):
        return _custom_us(size, gpus, link)
    return _nccl_us(size, gpus, link)


def gather_us(size: float, gpus: int, link: Link) -> float:
    """Return the time to gather logits of `size` bytes, in microseconds; NCCL does it always."""
    return 0.0 if gpus == 1 else allreduce_us(size / 2, gpus, replace(link, custom=False))


def alltoall_us(size: float, gpus: int, link: Link) -> float:
    """Return the time to send each GPU its part of `size` bytes, in microseconds.

    Half an all-reduce's wire and its latency: it has one phase, not two. No calibration row.
    """
    if gpus == 1:
        return 0.0
    latency = 8.0 if link.nvlink else 16.0 if link.p2p else 26.0
    reached = 0.6 if link.p2p else 0.35
    return latency + (gpus - 1) / gpus * size / (link.raw_gb_s * reached * 1e3)


def _custom_us(size: float, gpus: int, link: Link) -> float:
    if not link.nvlink:  # two GPUs over PCIe: each pulls the buffer of its peer
        return 8.5 + size / (link.raw_gb_s * 0.80e3)
    one_shot = size * gpus <= ONE_SHOT_MAX_BYTES
    wire = (gpus - 1) * size if one_shot else 2 * (gpus - 1) / gpus * size
    return 7.0 + 0.6 * (gpus - 2) + wire / (link.raw_gb_s * 0.6e3)


def _nccl_us(size: float, gpus: int, link: Link) -> float:
    small = size <= LL_MAX_BYTES
    wire = 2 * (gpus - 1) / gpus * size * (2.0 if small else 1.07)
    if link.nvlink:
        return 12.0 + 1.3 * (gpus - 2) + wire / (link.raw_gb_s * 0.75e3)
    if link.p2p:
        return 16.0 + 1.3 * (gpus - 2) + wire / (link.raw_gb_s * 0.87e3)
    staged_gb_s = min(0.70 * link.raw_gb_s, 12.0) if small else min(0.60 * link.raw_gb_s, 5.5)
    return 26.0 + 3.0 * (gpus - 2) + wire / (staged_gb_s * 1e3)
