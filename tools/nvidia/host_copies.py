"""Copies between host and GPU that somebody measured, against what the link can carry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tools.knowledge.gpus import gpu_named
from tools.knowledge.links import pcie_gb_s
from tools.nvidia.gpus import Gpus, GpuSample
from tools.nvidia.topology import Topology

REACHED = 0.8  # of the raw rate, by pinned copies of a healthy link (links.json, measured pairs)
SLOW = 0.35  # of what a healthy link gives: two generations, or a remote socket and one generation
FINE = 0.7


@dataclass(frozen=True)
class CopyReading:
    """One GPU: the best copy in either direction, and the link that card and slot can both do."""

    gpu: str
    gb_s: float
    gen: int
    width: int
    told: bool  # else the link is that of the product, and lanes may be missing as well

    @property
    def possible_gb_s(self) -> float:
        """Return what pinned copies reach over that link when it is healthy."""
        return REACHED * (pcie_gb_s(self.gen, self.width) or 0.0)

    @property
    def slow(self) -> bool:
        """Say whether no healthy link of that kind is as slow."""
        return self.gb_s < SLOW * self.possible_gb_s

    @property
    def fine(self) -> bool:
        """Say whether the link must be up to give that."""
        return self.gb_s >= FINE * self.possible_gb_s

    @property
    def like_gen(self) -> int:
        """Return the generation whose healthy link gives about as much."""
        rates = {
            gen: REACHED * (pcie_gb_s(gen, self.width) or 0.0) for gen in range(1, self.gen + 1)
        }
        return min(rates, key=lambda gen: abs(rates[gen] - self.gb_s))

    def quote(self) -> str:
        """Quote it in one line."""
        return (
            f"GPU {self.gpu}: {self.gb_s:g} GB/s between host and GPU; Gen{self.gen} x{self.width}"
        )


def copy_readings(
    topology: Topology, gpus: Gpus | None, on_bus: Mapping[str, int]
) -> tuple[CopyReading, ...]:
    """Return a reading for each GPU whose copies were measured and whose link is known.

    The link is what card and slot can both do, as the driver or the bus listing (`on_bus`) says; else
    that of the product, if another card of it reaches that.
    """
    best: dict[tuple[int, str | None, str | None], float] = {}
    for one in topology.host_rates:
        key = (one.gpu, one.bdf, one.name)
        best[key] = max(best.get(key, 0.0), one.gb_s)
    found = []
    for (index, bdf, name), rate in best.items():
        gpu, cards = _cards(gpus, index, bdf)
        same = max(other for (_, _, like), other in best.items() if like == name)
        told = _link(cards, on_bus.get(bdf or ""))
        if link := told or _of_product(name, same):
            found.append(CopyReading(gpu, rate, *link, told=told is not None))
    return tuple(found)


def _cards(gpus: Gpus | None, index: int, bdf: str | None) -> tuple[str, tuple[GpuSample, ...]]:
    """Return the samples of a card and its number: by its address, else by CUDA's own number."""
    groups = gpus.by_gpu() if gpus else {}
    for gpu, group in groups.items():
        if bdf and any(one.bdf == bdf for one in group):
            return (gpu if gpu.isdecimal() else str(index)), group
    told = any(one.bdf for group in groups.values() for one in group)
    return str(index), () if bdf and told else groups.get(str(index), ())


def _link(cards: tuple[GpuSample, ...], on_bus: int | None) -> tuple[int, int] | None:
    """Return generation and lanes that a card and its slot can both do."""
    gens = [gen for one in cards if (gen := one.gen_possible or on_bus)]
    widths = [one.link_width for one in cards if one.link_width]
    return (min(gens), widths[-1]) if gens and widths else None


def _of_product(name: str | None, best_gb_s: float) -> tuple[int, int] | None:
    product = gpu_named(name or "")
    if product is None:
        return None
    healthy = REACHED * (pcie_gb_s(product.pcie_gen, product.pcie_width) or 0.0)
    fine = best_gb_s >= FINE * healthy > 0
    return (product.pcie_gen, product.pcie_width) if fine else None
