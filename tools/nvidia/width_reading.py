"""How many lanes a GPU's link has, as its samples tell."""

from __future__ import annotations

from dataclasses import dataclass

from tools.knowledge.gpus import gpu_named
from tools.nvidia.gpus import Gpus
from tools.nvidia.link_reading import awake


@dataclass(frozen=True)
class WidthReading:
    """One GPU's width now, what it can have, and whether it was at work."""

    gpu: str
    bdf: str | None
    name: str | None
    width: int
    best: int
    busy: bool
    mixed: bool  # readings that cannot be of one machine
    gen: int | None


def width_readings(gpus: Gpus) -> list[WidthReading]:
    """Return the width of every GPU that tells it: the last reading at work, else the last."""
    found = []
    for gpu, group in gpus.by_gpu().items():
        told = [sample for sample in group if sample.link_width]
        if not told:
            continue
        last = next((sample for sample in reversed(told) if sample.busy), told[-1])
        product = gpu_named(last.name or "")
        best = product.pcie_width if product else last.link_width_max or 0
        found.append(
            WidthReading(
                gpu=gpu,
                bdf=last.bdf,
                name=last.name,
                width=last.link_width or 0,
                best=best,
                busy=bool(last.busy) or awake(last),
                mixed=len({(one.link_gen_max, one.link_width_max) for one in told}) > 1,
                gen=last.link_gen,
            )
        )
    return found
