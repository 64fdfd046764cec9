"""What GPUs exchange in one decode step, in ms: all-reduces, DP attention, experts, logits."""

from __future__ import annotations

from tools.physics.deployment import Deployment
from tools.physics.link import allreduce_us, alltoall_us, gather_us


def links_ms(d: Deployment) -> float:
    """Return what the exchanges of one step take, target and drafts."""
    c = d.checkpoint
    target = _layers_us(d) + gather_us(d.tokens * c.vocabulary * 2, d.tp, d.link)
    draft = 3 * allreduce_us(d.batch * c.hidden * 2, d.tp, d.link)
    draft += gather_us(d.batch * c.vocabulary * 2, d.tp, d.link)
    return (target + d.draft_forwards * draft) / 1e3


def _layers_us(d: Deployment) -> float:
    """Return the exchanges of all layers: after attention, after the feed-forward part, in norms."""
    c = d.checkpoint
    everyone = allreduce_us(d.tokens * c.hidden * 2, d.tp, d.link)
    attention = feed_forward = everyone
    if (
        d.attention_dp > 1
    ):  # each rank has its own sequences; experts need all tokens, and give back
        attention = allreduce_us(d.rank_tokens * c.hidden * 2, d.attention_tp, d.link)
    if d.all_to_all and c.sparse:  # dispatch in fp8, combine in bf16, to the experts' GPUs alone
        each = d.tokens / d.tp * max(1, c.experts_per_token) * c.hidden
        feed_forward = alltoall_us(each, d.tp, d.link) + alltoall_us(2 * each, d.tp, d.link)
    norms = 0.0
    if c.norms_across_heads:  # one sum of squares of the queries and one of the keys, in 32 bit
        norms = allreduce_us(d.rank_tokens * 2 * 4, d.attention_tp, d.link)
    return c.layers * (attention + feed_forward + norms) + everyone
