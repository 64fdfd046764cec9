"""What is known of a launch: its arguments, its model, its GPUs, its environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tools.knowledge.gpus import gpu_named

_MIB_PER_GB = 1024 * 0.985  # what nvidia-smi totals of a product with N GB, when not listed exactly


@dataclass(frozen=True, slots=True)
class Given:
    """Facts that conditions of the source are held against; None is not known."""

    argv: tuple[str, ...] = ()
    model_config: Mapping[str, Any] | None = None
    gpu: str | None = None
    capability: tuple[int, int] | None = None
    memory_mib: int | None = None
    gpus: int | None = None
    driver: str | None = None  # the NVIDIA driver's version, "595.58.03"
    environment: Mapping[str, str] = field(default_factory=dict)
    resolved: Mapping[str, Any] | None = None  # what the server says it runs with

    @classmethod
    def of(cls, *, gpu: str | None = None, **facts: Any) -> Given:
        """Return what is known, with capability and memory looked up by the GPU's name."""
        product = gpu_named(gpu) if gpu else None
        if product is not None:
            major, minor = product.sm.split(".")
            facts.setdefault("capability", (int(major), int(minor)))
            exact = product.mib_ecc_on or product.mib_ecc_off
            facts.setdefault("memory_mib", exact or round(product.mem_gb * _MIB_PER_GB))
        return cls(gpu=gpu, **facts)
