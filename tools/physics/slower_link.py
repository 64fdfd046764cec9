"""What tensor parallelism loses on a link that is slower than it could be, in percent.

A rule of thumb for deployments of which too little is known for tools/physics/step.py. Shares of
communication by the model of physics section 4 (Qwen3.6-27B, 2x RTX A6000, Gen4 x16): prefill
spends .15 of its time on the link, .11 with NVLink and .3 on faster GPUs or four of them; decode
loses .5 % for each time the link is slower in bf16 and 1 % in int4, as most of a small message is
latency.
"""

from __future__ import annotations

from tools.physics.interval import Interval

PREFILL_SHARE = (0.12, 0.15, 0.30)  # of the time spent on a healthy link
DECODE_SHARE = (0.003, 0.005, 0.010)
SOURCE = "the step model of 2x RTX A6000 at TP 2, not of this deployment"
# A PCIe link that no exchange between GPUs takes brings prompts in and weights at the start alone:
# decode and prefill, in percent.
INPUT_ALONE = (Interval(-1.0, 0.0, 0.0), Interval(-2.0, -0.5, 0.0))


def prefill_loss_pct(times_slower: float) -> Interval:
    """Return the change of the prefill rate on a link `times_slower`, negative is a loss."""
    return _loss(times_slower, PREFILL_SHARE)


def decode_loss_pct(times_slower: float) -> Interval:
    """Return the change of the decode rate on a link `times_slower`, negative is a loss."""
    return _loss(times_slower, DECODE_SHARE)


def _loss(times_slower: float, shares: tuple[float, float, float]) -> Interval:
    low, mid, high = shares
    left = [1 / (1 + share * max(0.0, times_slower - 1)) for share in (high, mid, low)]
    return Interval(*(100 * (part - 1) for part in left)).rounded()
