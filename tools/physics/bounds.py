"""Bounds of a decode step that need no model config: reading the weights, reading the whole card."""

from __future__ import annotations

from dataclasses import dataclass

from tools.engine import ServerLog
from tools.engine.traffic import Traffic
from tools.knowledge.gpus import Gpu, gpu_named
from tools.nvidia.gpus import Gpus

GIB = 1.073741824  # the log prints GiB and calls them GB


@dataclass(frozen=True)
class Bounds:
    """A measured step and what reading memory once takes; ms, for one GPU, at full bandwidth.

    `weights_ms` and `card_ms` are None where size or bandwidth is not known. A step cannot need
    more than `card_ms` for memory: nothing is read twice, and the card holds no more.
    """

    step_ms: float
    running: int
    gpu: Gpu | None = None
    weights_ms: float | None = None
    card_ms: float | None = None
    usage: float | None = None  # of the KV pool, where the step was measured

    @classmethod
    def of(cls, log: ServerLog, gpus: Gpus | None) -> Bounds | None:
        """Take them from a log and the GPUs; None where no step was measured."""
        traffic = Traffic(log)
        running = traffic.usual_running
        step = traffic.step(running)
        if step is None:
            return None
        names = set(gpus.names) if gpus else set()
        gpu = gpu_named(names.pop()) if len(names) == 1 else None
        usage = max((line.usage or 0.0 for line in traffic.at(running)), default=None)
        if gpu is None:
            return cls(step, running, usage=usage)
        return cls(
            step,
            running,
            gpu,
            log.weights_gb * GIB / gpu.bandwidth_gb_s * 1e3 if log.weights_gb else None,
            _held_gb(gpus, gpu) / gpu.bandwidth_gb_s * 1e3,
            usage,
        )


def _held_gb(gpus: Gpus | None, gpu: Gpu) -> float:
    """Return what one card holds: as measured, else all that it can hold."""
    used = [one.mem_used_mib for one in gpus.samples if one.mem_used_mib] if gpus else []
    return min(gpu.mem_gb * GIB, max(used) * 1.048576e-3) if used else gpu.mem_gb
