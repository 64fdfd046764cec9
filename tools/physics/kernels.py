"""The floor of a CUDA graph: what each kernel costs besides the bytes that it reads.

A kernel waits for the one before it, fills the memory pipeline and drains it: microseconds that do
not depend on its size. That is why small matrices reach a smaller share of the bandwidth.
"""

from __future__ import annotations

from tools.physics.deployment import Deployment
from tools.physics.precision import native

# Per kernel, us, by kind of memory. hbm: Llama-2-7B at TP 1 to 8 on A100 (the bytes shrink, this
# does not), Qwen3-235B and Gemma-4 on B200 and H200. gddr: RTX PRO 6000 and 4090, which clock
# nearly twice as high.
KERNEL_US = {"hbm": 3.1, "gddr": 1.25}
DRAFT_KERNELS = 24  # of one draft forward: a layer, the head, top-k over the vocabulary
# Before a product in fp8 or fp4 a kernel of its own makes its activations of that format: query, key
# and value; output; into the feed-forward part; out of it. SGLang's own profile counts 240 in a step
# of 60 layers (its issue 31504).
QUANTIZING = {"attention": 2, "feed_forward": 2}
# Fewer, with that of the activations among the rest, where fp4 experts run on sm 10: FlashInfer has
# routing, two products and the sum as four kernels (MoE::Runner of its trtllm_fused_moe_runner.cu).
FUSED_EXPERTS = 9
# CPU time of one operator without a graph; the middle is one calibration point, the ends were seen.
EAGER_US, EAGER_US_LOW, EAGER_US_HIGH = 73.0, 40.0, 140.0


def kernels(d: Deployment) -> float:
    """Return how many kernels one step has, target and drafts."""
    c = d.checkpoint
    each = c.kernels_per_layer + _by_format(d)
    return c.layers * each + d.draft_forwards * DRAFT_KERNELS


def _by_format(d: Deployment) -> int:
    """Return how many more or fewer a layer has whose weights the tensor cores take as they are."""
    c, gpu = d.checkpoint, d.gpu
    if d.weight_only is not None:
        return 0
    told = QUANTIZING["attention"] if native(c.weight_bytes, gpu) else 0
    size = c.expert_bytes or c.weight_bytes
    if not native(size, gpu):
        return told
    if c.sparse and size < 1 and gpu.sm.startswith("10."):
        return told - FUSED_EXPERTS
    return told + QUANTIZING["feed_forward"]


def kernels_ms(d: Deployment) -> float:
    """Return what the kernels of one step cost besides reading."""
    return kernels(d) * KERNEL_US["hbm" if d.gpu.hbm else "gddr"] / 1e3


def eager_ms(d: Deployment, memory_ms: float, rest_ms: float, launch_us: float = EAGER_US) -> float:
    """Return the wait for the CPU that launches every operator: -40 to -85 % seen, coarse."""
    return max(0.1 * memory_ms, kernels(d) * launch_us / 1e3 - memory_ms - rest_ms)
