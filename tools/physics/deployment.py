"""One checkpoint on some GPUs, in one state: what a step depends on."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from tools.knowledge.gpus import Gpu
from tools.physics.checkpoint import Checkpoint
from tools.physics.link import ALONE, Link

# CPU time for which the GPU waits in one step, ms. Anchors: gpt-fast; SGLang 0.5.8 on one GPU;
# joorklee/p2p-bench for v2; SGLang PR 11398 (EAGLE 8B on H100, v1 -> v2: 12.1 -> 11.0 ms);
# club-3090 for vLLM. Tuned on the calibration, so in-sample.
HOST_MS = {
    "compiled": 0.1,
    "overlap": 0.3,
    "no_overlap": 1.6,
    "spec_v2": 2.4,
    "spec_v1": 3.5,
    "vllm_spec": 6.9,
}


@dataclass(frozen=True)
class Deployment:
    """One deployment in one state. Shares are of the normal: 1.0 is nothing unusual."""

    checkpoint: Checkpoint
    gpu: Gpu
    tp: int = 1
    link: Link = ALONE
    batch: int = 1
    context: float = 512  # tokens of each sequence
    draft_forwards: int = 0  # draft steps of one verify
    verify_tokens: int = 0  # tokens of each sequence in the target's forward; 0: draft_forwards + 1
    accept_len: float = 1.0  # accepted drafts + 1
    graph: bool = True
    host_ms: float = HOST_MS["overlap"]
    power: float = 1.0  # enforced limit / default limit
    bandwidth: float = 1.0  # memory clock, ECC, a neighbour on the card
    kv_scale: float = 1.0  # fp8 KV cache: .5
    weight_only: float = 1.0  # extra time of weight-only kernels

    @property
    def tokens(self) -> int:
        """Return the tokens of the target's forward."""
        return self.batch * (self.verify_tokens or self.draft_forwards + 1)

    def over(self, link: Link) -> Deployment:
        """Return the same deployment on another link."""
        return replace(self, link=link)


def power_scale(share: float, phase: str) -> float:
    """Return the share of speed left under a power cap of `share` of the default limit.

    Decode is flat down to about 65 %; prefill follows the clocks. One curve (TP2 RTX 3090, 220 to
    330 of 350 W, club-3090): treat as coarse.
    """
    share = max(share, 0.0)
    curve = (share / 0.65, 0.8) if phase == "decode" else (share, 0.5)
    return min(1.0, math.pow(*curve))
