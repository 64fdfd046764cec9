"""What one decode step reads from memory, in GB per GPU: weights by part, KV cache, recurrent state."""

from __future__ import annotations

import math

from tools.physics.deployment import Deployment
from tools.physics.precision import unpacking

EXPERT_SPREAD = 0.75  # share of a token's experts that are not those of the tokens beside it
# Several rows of activations go through tensor-core tiles that read the weights a little slower
# than the product with one row: batch 8 on H200 and four tokens on RTX 3090 and 5060 Ti.
MANY_ROWS = 1.06


def weights_gb(d: Deployment) -> float:
    """Return the weights that one step reads on one GPU, target and drafts; slow formats count more."""
    c, gpu = d.checkpoint, d.gpu
    rows = MANY_ROWS if d.tokens > 1 else 1.0
    plain = (c.params_b - c.routed_b - c.kept_b) * c.weight_bytes * d.unpacking + c.kept_b * 2
    head = c.head_b * c.head_bytes
    target = (_split(d, plain) + _experts_gb(d) + head / d.tp) * rows
    draft = (c.draft_b * c.draft_bytes + head) / d.tp + c.draft_replicated_b * 2
    draft *= unpacking(c.draft_bytes, gpu)
    return target + d.draft_forwards * draft  # each draft forward reads the lm_head again


def cache_gb(d: Deployment) -> float:
    """Return the KV cache and the recurrent state that one step reads and writes on one GPU."""
    c = d.checkpoint
    ways = min(d.attention_tp, c.kv_ways) if c.kv_ways else d.attention_tp
    window = min(d.context, c.window) if c.window else d.context
    kv = d.context * c.kv_bytes_per_token + window * c.sliding_kv_bytes_per_token
    kv *= d.rank_batch * d.kv_scale / 1e9 / ways
    state = c.state_gb * (d.rank_batch + d.rank_tokens)  # read once, written after each token
    return kv + state / d.attention_tp


def _split(d: Deployment, plain_gb: float) -> float:
    """Return what one GPU reads of weights without experts; DP attention keeps copies of its part."""
    c = d.checkpoint
    if d.attention_dp == 1:
        return plain_gb / d.tp
    attention = c.attention_b * c.weight_bytes * d.unpacking
    return attention / d.attention_tp + (plain_gb - attention) / d.tp


def _experts_gb(d: Deployment) -> float:
    """Return the routed experts that the GPU with most of them reads."""
    c = d.checkpoint
    if not c.sparse:
        return 0.0
    size = c.expert_bytes or c.weight_bytes
    chosen, everything = (
        (c.routed_b, c.routed_total_b)
        if c.routed_total_b
        else (c.params_b, c.total_params_b)  # not told apart
    )
    effective = 1 + EXPERT_SPREAD * (d.tokens - 1)
    distinct = everything * (1 - math.pow(1 - min(chosen / everything, 1.0), effective))
    if not c.routed_total_b:
        distinct -= c.params_b  # what is counted as plain already
    read = distinct * size * unpacking(size, d.gpu) / d.tp
    return read * _imbalance(d, distinct / everything)


def _imbalance(d: Deployment, share: float) -> float:
    """Return the load of the fullest GPU over the mean, with whole experts on each (EP)."""
    experts = d.checkpoint.experts
    if d.ep == 1 or not experts:
        return 1.0
    mean = share * experts / d.ep
    fullest = mean + math.sqrt(2 * mean * math.log(d.ep))  # of ep draws of a Poisson number
    return min(fullest, experts / d.ep) / mean
