"""The floor of a CUDA graph: what each kernel costs besides the bytes that it reads.

A kernel waits for the one before it, fills the memory pipeline and drains it: microseconds that do
not depend on its size. That is why small matrices reach a smaller share of the bandwidth.
"""

from __future__ import annotations

from tools.physics.deployment import Deployment

# Per kernel, us, by kind of memory. hbm: Llama-2-7B at TP 1 to 8 on A100 (the bytes shrink, this
# does not), Qwen3-235B and Gemma-4 on B200 and H200. gddr: RTX PRO 6000 and 4090, which clock
# nearly twice as high.
KERNEL_US = {"hbm": 3.1, "gddr": 1.25}
DRAFT_KERNELS = 24  # of one draft forward: a layer, the head, top-k over the vocabulary
EAGER_US = 73.0  # CPU time of one operator without a graph; 40 to 140 seen, one calibration point


def kernels(d: Deployment) -> float:
    """Return how many kernels one step has, target and drafts."""
    c = d.checkpoint
    return c.layers * c.kernels_per_layer + d.draft_forwards * DRAFT_KERNELS


def kernels_ms(d: Deployment) -> float:
    """Return what the kernels of one step cost besides reading."""
    return kernels(d) * KERNEL_US["hbm" if d.gpu.hbm else "gddr"] / 1e3


def eager_ms(d: Deployment, memory_ms: float, rest_ms: float) -> float:
    """Return the wait for the CPU that launches every operator: -40 to -85 % seen, coarse."""
    return max(0.1 * memory_ms, kernels(d) * EAGER_US / 1e3 - memory_ms - rest_ms)
