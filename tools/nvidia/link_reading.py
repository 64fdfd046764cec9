"""What the samples of one GPU tell of its PCIe link's generation, at work and at rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tools.nvidia.gpus import BUSY_PSTATE, Gpus, GpuSample

AWAKE_PCT = 10  # of utilisation: a server that waits for its slowest link is seldom above 50


@dataclass(frozen=True)
class LinkReading:
    """The samples of one GPU that tell a generation, and the one card and slot can both do.

    `beside` are those taken in a state of work in which a sister keeps her link up: a link does not
    rest there, whatever the utilisation.
    """

    gpu: str
    samples: tuple[GpuSample, ...]
    possible: int | None
    beside: tuple[GpuSample, ...] = ()

    @property
    def busy(self) -> tuple[GpuSample, ...]:
        """Return the samples taken at work, the only ones that prove a link slow."""
        return tuple(sample for sample in self.samples if sample.busy or sample in self.beside)

    @property
    def low(self) -> tuple[GpuSample, ...]:
        """Return the samples below what is possible; none where that is not known."""
        return tuple(one for one in self.samples if (one.link_gen or 0) < (self.possible or 0))

    @property
    def low_busy(self) -> tuple[GpuSample, ...]:
        """Return the low samples taken at work."""
        return tuple(sample for sample in self.low if sample in self.busy)

    @property
    def low_at_rest(self) -> tuple[GpuSample, ...]:
        """Return the low samples not known to be taken at work."""
        return tuple(sample for sample in self.low if sample not in self.busy)

    @property
    def low_share(self) -> float:
        """Return the share of the busy samples that are low, 0 to 1; 0 without busy samples."""
        return len(self.low_busy) / len(self.busy) if self.busy else 0.0

    def quote(self) -> str:
        """Quote the samples as a person would count them."""
        sample = (self.low_busy or self.busy or self.samples)[0]
        best = f" of Gen{self.possible}" if self.possible else ""
        words = [f"GPU {self.gpu}: Gen{sample.link_gen}{best}"]
        words += [] if sample.util_pct is None else [f"at {sample.util_pct:.0f} % utilisation"]
        words += [] if sample.pstate is None else [f"in P{sample.pstate}"]
        count = f"{len(self.low_busy) or len(self.busy)} of {len(self.busy)} samples at work"
        return f"{' '.join(words)}, {count if self.busy else 'not seen at work'}"


def link_readings(gpus: Gpus, on_bus: Mapping[str, int]) -> tuple[LinkReading, ...]:
    """Return the readings of all GPUs; `on_bus` maps a bdf to what the bus listing says of it."""
    found = []
    for gpu, group in gpus.by_gpu().items():
        told = tuple(sample for sample in group if sample.link_gen)
        maxima = [sample.gen_possible for sample in told if sample.gen_possible]
        maxima = maxima or [on_bus[one.bdf] for one in told if one.bdf and one.bdf in on_bus]
        if told:
            found.append(LinkReading(gpu, told, min(maxima) if maxima else None))
    up = tuple(
        sample
        for one in found
        for sample in one.samples
        if one.possible and sample.link_gen == one.possible and not sample.busy and awake(sample)
    )
    return tuple(replace(one, beside=_beside(one, up)) for one in found)


def awake(sample: GpuSample) -> bool:
    """Say whether a GPU does something, in a P-state of work, though most of the time it waits."""
    works = sample.pstate is not None and sample.pstate <= BUSY_PSTATE
    return works and (sample.util_pct or 0.0) >= AWAKE_PCT


def _beside(one: LinkReading, up: Sequence[GpuSample]) -> tuple[GpuSample, ...]:
    """Return the samples that are as awake as those of a sister of the same product, whose link is up."""
    names = {sister.name for sister in up}
    states = {sister.pstate for sister in up}
    return tuple(
        sample
        for sample in one.samples
        if not sample.busy and awake(sample) and sample.pstate in states and sample.name in names
    )
