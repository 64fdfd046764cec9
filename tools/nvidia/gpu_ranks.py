"""Ranks of engines on GPUs: a rank has a GPU to itself, so two of a kind are two servers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tools.nvidia.gpus import GpuProcess, Gpus

_RANK = re.compile(r"vllm::worker|sglang::scheduler", re.IGNORECASE)  # vLLM 0.9 on, SGLang 0.4.6 on
BIG_MIB = 2048.0  # a rank that ends, or is being started, holds its context alone


def doubled(gpus: Gpus) -> tuple[Sequence[GpuProcess], ...]:
    """Return, for each GPU with several ranks at once, those ranks.

    Tables of two moments hold the ranks before and after a restart, those of two machines an index
    twice: what ranks hold together must be what the GPU has in use.
    """
    if gpus.mixed:
        return ()
    used = {one.index: one.mem_used_mib for one in gpus.samples if one.mem_used_mib is not None}
    found: dict[int, dict[int, GpuProcess]] = {}
    for one in gpus.processes or ():
        if one.gpu is not None and _RANK.search(one.name or "") and (one.used_mib or 0) >= BIG_MIB:
            found.setdefault(one.gpu, {})[one.pid] = one
    return tuple(
        tuple(ranks.values())
        for gpu, ranks in found.items()
        if len(ranks) > 1
        and sum(one.used_mib or 0.0 for one in ranks.values()) <= used.get(gpu, 0.0) + BIG_MIB
    )
