"""GPUs at moments: what NVML and nvidia-smi say, whichever way they say it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

from tools.probe import Facts

BUSY_PCT = 50  # below it a GPU may lower link and clocks by itself (facts: physics, section 8)
BUSY_PSTATE = 2


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
    compute_cap: str | None = None
    mig: bool | None = None
    persistence: bool | None = None
    recovery_action: str | None = None
    licence: str | None = None  # of a vGPU, "Unlicensed"

    @property
    def busy(self) -> bool | None:
        """Say whether the GPU was at work; None if neither utilisation nor P-state is told."""
        if self.util_pct is None:
            return None if self.pstate is None else self.pstate <= BUSY_PSTATE
        return self.util_pct > BUSY_PCT and (self.pstate is None or self.pstate <= BUSY_PSTATE)

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

        A look that tells the address alone is put to the index that another look gives it.
        """
        groups: dict[str, list[GpuSample]] = {}
        known: dict[str | None, int | None] = {
            s.bdf: s.index for s in self.samples if s.bdf and s.index is not None
        }
        for sample in self.samples:
            index = known.get(sample.bdf) if sample.index is None else sample.index
            key = index if index is not None else sample.bdf or sample.name or 0
            groups.setdefault(str(key), []).append(sample)
        return {key: tuple(group) for key, group in groups.items()}

    def cards(self) -> tuple[GpuSample, ...]:
        """Return each GPU as one sample: the last look, completed by what the earlier ones told."""
        return tuple(reduce(GpuSample.merged, group) for group in self.by_gpu().values())

    def busy(self) -> tuple[GpuSample, ...]:
        """Return the samples taken at work."""
        return tuple(sample for sample in self.samples if sample.busy)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the product names, one for each GPU that tells it; whole ones before cut ones."""
        told = [[s.name for s in group if s.name] for group in self.by_gpu().values()]
        return tuple(min(names, key=lambda name: name.endswith("...")) for names in told if names)
