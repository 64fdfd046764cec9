"""One checkpoint on some GPUs, in one state: what a step depends on."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from tools.knowledge.gpus import Gpu
from tools.physics.checkpoint import Checkpoint
from tools.physics.link import ALONE, Link
from tools.physics.precision import unpacking

# CPU time for which the GPU waits in one step, ms. Anchors: gpt-fast; SGLang 0.5.8 on one GPU;
# joorklee/p2p-bench for v2; SGLang PR 11398 (EAGLE 8B on H100, v1 -> v2: 12.1 -> 11.0 ms);
# vLLM's benchmark builds of 2025, which scheduled in turn with the GPU, for vllm_sync; club-3090 for
# vLLM with drafts. Tuned on the calibration, so in-sample.
HOST_MS = {
    "compiled": 0.1,
    "overlap": 0.3,
    "no_overlap": 1.6,
    "vllm_sync": 1.0,
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
    weight_only: float | None = None  # time over bytes of packed weights; None: by format and card
    attention_dp: int = 1  # groups of GPUs that each hold whole sequences (DP attention)
    ep: int = 1  # groups of GPUs that each hold whole experts
    all_to_all: bool = False  # experts are sent their own tokens (DeepEP), not everything to all

    @property
    def tokens(self) -> int:
        """Return the tokens of the target's forward."""
        return self.batch * (self.verify_tokens or self.draft_forwards + 1)

    @property
    def attention_tp(self) -> int:
        """Return over how many GPUs one attention head's sequence is split."""
        return max(1, self.tp // self.attention_dp)

    @property
    def rank_batch(self) -> float:
        """Return the sequences that a GPU of the fullest group attends to: all wait for it."""
        return math.ceil(self.batch / self.attention_dp)

    @property
    def rank_tokens(self) -> float:
        """Return the tokens for which such a GPU computes attention."""
        return self.rank_batch * self.tokens / self.batch

    @property
    def unpacking(self) -> float:
        """Return the time of reading weights over the time that their bytes take."""
        if self.weight_only is not None:
            return self.weight_only
        return unpacking(self.checkpoint.weight_bytes, self.gpu)

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
