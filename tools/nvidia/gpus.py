"""GPUs at moments: what NVML and nvidia-smi say, whichever way they say it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, reduce
from typing import Any, ClassVar

from tools.knowledge.gpus import gpu_named
from tools.probe import Facts

BUSY_PCT = 50  # below it a GPU may lower link and clocks by itself (facts: physics, section 8)
BUSY_PSTATE = 2
BUSY_POWER = 0.5  # of the limit; a GPU that polls or draws a desktop stays below a third of it


class GpuSample(Facts):
    """One GPU at one moment. `None` where the program does not say."""

    index: int | None = None
    bdf: str | None = None  # "0000:e3:00.0", lower case, four-digit domain
    name: str | None = None
    at: str | None = None
    pstate: int | None = None
    util_pct: float | None = None
    mem_util_pct: float | None = None
    link_gen: int | None = None
    link_gen_max: int | None = None  # the lower of card and slot
    link_gen_gpumax: int | None = None
    link_gen_hostmax: int | None = None
    link_width: int | None = None
    link_width_max: int | None = None
    sm_mhz: float | None = None
    sm_max_mhz: float | None = None
    mem_mhz: float | None = None
    mem_max_mhz: float | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    power_default_w: float | None = None
    power_max_w: float | None = None  # the highest limit that could be set
    temp_c: float | None = None
    mem_temp_c: float | None = None
    slowdown_temp_c: float | None = None
    fan_pct: float | None = None
    reasons: frozenset[str] | None = None  # names of the catalogue's reason bits, without gpu_idle
    reason_us: dict[str, int] = {}  # counters since driver load, microseconds
    mem_total_mib: float | None = None
    mem_used_mib: float | None = None
    bar1_mib: float | None = None
    ecc_on: bool | None = None
    ecc_corrected: int | None = None  # volatile
    ecc_uncorrected: int | None = None  # volatile
    ecc_corrected_life: int | None = None  # aggregate
    ecc_uncorrected_life: int | None = None
    remap_pending: bool | None = None  # rows (before Ampere: pages) wait for a reset of the GPU
    remap_failed: bool | None = None
    remapped_uncorrectable: int | None = None
    retired_pages: int | None = None  # before Ampere: pages taken out of use for ECC errors
    replays: int | None = None  # since driver load
    rx_mb_s: float | None = None
    tx_mb_s: float | None = None
    engine_active: float | None = None  # DCGM's share of the time, 0 to 1
    nvlink_mb_s: float | None = None  # both ways, as DCGM profiles it
    compute_cap: str | None = None
    mig: bool | None = None
    persistence: bool | None = None
    recovery_action: str | None = None
    licence: str | None = None  # of a vGPU, "Unlicensed"
    fabric: str | None = None  # state of the NVSwitch fabric: "Completed", "In Progress"

    @property
    def busy(self) -> bool | None:
        """Say whether the GPU was at work; None if utilisation, P-state and power do not tell it."""
        if self.util_pct is None and self.pstate is None:
            return self._draws_as_at_work or None
        if self.util_pct is None:
            return self.pstate is not None and self.pstate <= BUSY_PSTATE
        return self.util_pct > BUSY_PCT and (self.pstate is None or self.pstate <= BUSY_PSTATE)

    @property
    def _draws_as_at_work(self) -> bool:
        return (self.power_w or 0.0) >= BUSY_POWER * (self.power_limit_w or float("inf"))

    @property
    def gen_possible(self) -> int | None:
        """Return the PCIe generation that card and slot can both do."""
        if self.link_gen_gpumax and self.link_gen_hostmax:
            return min(self.link_gen_gpumax, self.link_gen_hostmax)
        return self.link_gen_gpumax or self.link_gen_max


class GpuProcess(Facts):
    """A process that holds memory of a GPU."""

    gpu: int | None = None
    pid: int
    name: str | None = None
    used_mib: float | None = None


class Gpus(Facts):
    """GPUs at one moment or several, in the order of time."""

    keeps_apart: ClassVar[bool] = True

    driver: str | None = None
    cuda: str | None = None
    samples: tuple[GpuSample, ...] = ()
    processes: tuple[GpuProcess, ...] | None = None  # None: the table was not printed
    cc_on: bool | None = None  # confidential computing
    attached: int | None = None  # how many GPUs the driver has; the samples may tell of fewer
    window_s: float | None = None  # how long was sampled; None: looks, not a watch

    def merged(self, other: Gpus) -> Gpus:
        """Return both looks; the samples follow each other, alike ones too, for time has passed."""
        if self.samples and self.samples == other.samples:  # the same text, given twice
            other = other.model_copy(update={"samples": ()})
        return Gpus.united((self, other))

    @staticmethod
    def united(looks: Iterable[Gpus]) -> Gpus:
        """Return many looks as one; of what is not of one moment, the last that is told counts."""
        told: dict[str, Any] = {}
        samples: list[GpuSample] = []
        processes: dict[tuple[int | None, int], GpuProcess] | None = None
        for look in looks:
            samples += look.samples
            for field in ("driver", "cuda", "cc_on", "attached", "window_s"):
                value = getattr(look, field)
                told[field] = told.get(field) if value is None else value
            if look.processes is not None:
                processes = {} if processes is None else processes
                processes.update({(p.gpu, p.pid): p for p in look.processes})
        held = None if processes is None else tuple(processes.values())
        return Gpus(**told, samples=tuple(samples), processes=held)

    def by_gpu(self) -> dict[str, tuple[GpuSample, ...]]:
        """Return the samples of each GPU, keyed by index (or address, or name) as text.

        A look that tells the address alone is put to the index that another look gives it. Where
        one index stands for two cards, as in files of two machines, the card is part of the key.
        """
        return dict(self._by_gpu)

    @cached_property
    def _by_gpu(self) -> dict[str, tuple[GpuSample, ...]]:
        groups: dict[str, list[GpuSample]] = {}
        known: dict[str | None, int | None] = {
            s.bdf: s.index for s in self.samples if s.bdf and s.index is not None
        }
        twice = self._twice
        for sample in self.samples:
            index = known.get(sample.bdf) if sample.index is None else sample.index
            key = index if index is not None else sample.bdf or sample.name or 0
            card = _card(sample, twice[sample.index]) if sample.index in twice else ""
            groups.setdefault(f"{key} ({card})" if card else str(key), []).append(sample)
        return {key: tuple(sorted(group, key=_time(group))) for key, group in groups.items()}

    def working(self) -> dict[str, tuple[GpuSample, ...]]:
        """Return the samples at work of each GPU that has any: one slow card holds up its group."""
        groups = {gpu: tuple(s for s in group if s.busy) for gpu, group in self._by_gpu.items()}
        return {gpu: group for gpu, group in groups.items() if group}

    def called(self, gpu: str) -> str:
        """Name one GPU of several, "GPU 5"; the only one is "the GPU"."""
        return f"GPU {gpu}" if len(self._by_gpu) > 1 else "the GPU"

    @property
    def mixed(self) -> str:
        """Name an index that stands for two cards: by product, else by PCI address."""
        for index, cards in sorted(self._twice.items()):
            return f"GPU {index} is {' and '.join(sorted(cards)[:2])}"
        return ""

    @cached_property
    def _twice(self) -> dict[int, frozenset[str]]:
        """Return the indexes that stand for two cards, each with their products or addresses."""
        found: dict[int, frozenset[str]] = {}
        for told in (_product, _address):
            cards: dict[int, set[str]] = {}
            for sample in self.samples:
                if sample.index is not None and (card := told(sample)):
                    cards.setdefault(sample.index, set()).add(card)
            found |= {
                index: frozenset(names)
                for index, names in cards.items()
                if len(names) > 1 and index not in found
            }
        return found

    def cards(self) -> tuple[GpuSample, ...]:
        """Return each GPU as one sample: the last look, completed by what the earlier ones told."""
        return self._cards

    @cached_property
    def _cards(self) -> tuple[GpuSample, ...]:
        return tuple(reduce(GpuSample.merged, group) for group in self._by_gpu.values())

    def busy(self) -> tuple[GpuSample, ...]:
        """Return the samples taken at work."""
        return tuple(sample for sample in self.samples if sample.busy)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the product names, one for each GPU that tells it; whole ones before cut ones."""
        told = [[s.name for s in group if s.name] for group in self._by_gpu.values()]
        return tuple(min(names, key=lambda name: name.endswith("...")) for names in told if names)


def _time(group: Sequence[GpuSample]) -> Callable[[GpuSample], str]:
    """Order by the moments where all are told: files come by their names. Else leave the order."""
    told = all(one.at and one.at[:1].isdecimal() for one in group)
    return lambda one: (one.at or "") if told else ""


def _product(sample: GpuSample) -> str:
    """Return the product's name, one for all spellings of a known one; empty where it is cut."""
    if not sample.name or sample.name.endswith("..."):
        return ""
    known = gpu_named(sample.name)
    return known.name if known else sample.name.removeprefix("NVIDIA ")


def _address(sample: GpuSample) -> str:
    return sample.bdf or ""


def _card(sample: GpuSample, cards: frozenset[str]) -> str:
    """Return which of the cards of one index a sample is of; empty where it does not tell."""
    return next((card for card in (_product(sample), _address(sample)) if card in cards), "")
