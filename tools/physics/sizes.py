"""From config.json to parameters: attention, MLA, linear attention, Mamba, feed-forward, experts.

Formulas (h hidden, I intermediate, q and kv heads of size d), checked against the config.json of
Qwen3.6-27B and the parameter counts of the model cards in tests/physics. Weights only; norms and
biases are noise.
"""

from __future__ import annotations

from dataclasses import dataclass

from tools.engine import ModelConfig
from tools.errors import Undecided

# Small kernels of one layer inside a CUDA graph, by what a trace of SGLang 0.5 shows a layer to
# be made of, and what is on top of a plain one. The rows of calibration.json that show each:
PLAIN = 12  # Llama and Qwen on A100, H100, RTX PRO 6000
NORMS_ON_TOP = 3  # Gemma's norms after attention and feed-forward: Gemma-4-31B on H200
EXPERTS_ON_TOP = 12  # router, sort, two grouped GEMMs, sum: Qwen3-235B on B200, 30B on RTX PRO 6000
BOTH_ON_TOP = 9  # a dense part beside the experts, norms for each: Gemma-4-26B-A4B on H200
LINEAR_ON_TOP = 8  # convolution, gates, recurrence, gated norm: Qwen3.6-27B on RTX 3090, 5060 Ti
LATENT_ON_TOP = 8  # MLA: low-rank pairs and their norms, absorbed products; no row yet


@dataclass(frozen=True)
class Kinds:
    """How many layers do what; `full` and `sliding` together are those with attention."""

    full: int
    sliding: int
    linear: int

    @property
    def attention(self) -> int:
        """Return the layers that keep a KV cache."""
        return self.full + self.sliding


@dataclass(frozen=True)
class FeedForward:
    """Feed-forward parts of all layers, in 1e9: what a token reads, of it routed, all routed."""

    active_b: float
    routed_b: float = 0.0
    routed_total_b: float = 0.0
    layer_b: float = 0.0  # what a token reads of the last layer; a draft layer is made like it


def kinds(config: ModelConfig, layers: int) -> Kinds:
    """Return how many layers do what."""
    linear = config.linear_layers or 0
    sliding = config.sliding_layers or 0
    if config.full_attention_layers is not None and config.feed_forward_layers is not None:
        return Kinds(config.full_attention_layers, sliding, linear)  # Nemotron-H: one part a layer
    return Kinds(layers - linear - sliding, sliding, linear)


def attention_b(config: ModelConfig, h: int) -> float:
    """Return the parameters of one layer's attention."""
    q = config.heads
    if not q:
        raise Undecided("the model's config does not tell its attention heads")
    if config.mla:
        return _latent_b(config, h, q)
    d, kv = config.head_dim or h // q, config.kv_heads or q
    gate = 2 if config.output_gate else 1
    return (gate * h * q * d + 2 * h * kv * d + q * d * h) / 1e9


def _latent_b(config: ModelConfig, h: int, q: int) -> float:
    """Return MLA's: both low-rank pairs and the output; shapes of DeepSeek-V3 where none are told."""
    kv, rope = config.mla_kv_rank or 512, config.mla_rope_dim or 64
    nope, value = config.mla_nope_dim or 128, config.mla_value_dim or 128
    rank = config.mla_q_rank if config.mla_q_rank is not None else 1536
    query = (h + q * (nope + rope)) * rank if rank else h * q * (nope + rope)
    return (query + h * (kv + rope) + kv * q * (nope + value) + q * value * h) / 1e9


def linear_b(config: ModelConfig, h: int) -> float:
    """Return the parameters of one layer that keeps a state: gated delta net, KDA or Mamba-2."""
    if not config.linear_layers:
        return 0.0
    nk, nv = config.linear_key_heads, config.linear_value_heads
    kd, vd = config.linear_key_dim, config.linear_value_dim
    if not (nk and nv and kd and vd):
        raise Undecided("the model has linear attention whose heads its config does not tell")
    if config.mamba:  # keys and queries are B and C; values, gate, one step each; output
        return (h * (2 * nk * kd + 2 * nv * vd + nv) + nv * vd * h) / 1e9
    return (h * (2 * nk * kd + 2 * nv * vd) + 2 * h * nv + nv * vd * h) / 1e9


def feed_forward(config: ModelConfig, h: int, layers: int) -> FeedForward:
    """Return the feed-forward parts of all layers."""
    matrices = 2 if config.ungated else 3
    count = config.feed_forward_layers if config.feed_forward_layers is not None else layers
    dense = matrices * h * (config.intermediate or 0) / 1e9
    if not config.experts:
        if not config.intermediate:
            raise Undecided("the model's config does not tell its feed-forward size")
        return FeedForward(count * dense, layer_b=dense)
    if not (config.moe_intermediate and config.experts_per_token):
        raise Undecided("the model has experts whose size its config does not tell")
    sparse = _sparse_layers(config, count)
    one = matrices * h * config.moe_intermediate / 1e9
    shared = matrices * h * (config.shared_expert_intermediate or 0) / 1e9
    beside = dense if config.dense_beside_experts else 0.0
    routed = config.experts_per_token * one
    each = routed + shared + beside + h * config.experts / 1e9  # the router
    return FeedForward(
        sparse * each + (count - sparse) * dense,
        sparse * routed,
        sparse * config.experts * one,
        each,
    )


def _sparse_layers(config: ModelConfig, layers: int) -> int:
    if config.moe_layers is not None:
        return config.moe_layers
    return layers - (config.dense_layers or 0)


def kv_elements(config: ModelConfig) -> float:
    """Return the elements that one token adds to the cache of one layer."""
    if config.mla:
        return (config.mla_kv_rank or 512) + (config.mla_rope_dim or 64)
    d = config.head_dim or (config.hidden or 0) // (config.heads or 1)
    return 2 * (config.kv_heads or config.heads or 0) * d


def width(config: ModelConfig) -> float:
    """Return heads times their size: what one layer computes with each earlier token."""
    d = config.head_dim or (config.hidden or 0) // (config.heads or 1)
    if config.mla:
        d = (config.mla_nope_dim or 128) + (config.mla_rope_dim or 64)
    return (config.heads or 0) * d


def state_elements(config: ModelConfig) -> int:
    """Return the elements of the state of one sequence in one layer."""
    heads = config.linear_value_heads or 0
    return heads * (config.linear_key_dim or 0) * (config.linear_value_dim or 0)


def kernels(config: ModelConfig, kinds: Kinds, layers: int) -> float:
    """Return the small kernels of a layer, on average over all layers."""
    sparse = 0
    if config.experts:
        count = config.feed_forward_layers
        sparse = _sparse_layers(config, count if count is not None else layers)
    parts = kinds.attention + kinds.linear
    plain = PLAIN * (parts / layers if config.feed_forward_layers is not None else 1)
    more = LINEAR_ON_TOP * kinds.linear + EXPERTS_ON_TOP * sparse
    more += LATENT_ON_TOP * kinds.attention if config.mla else 0
    more += BOTH_ON_TOP * sparse if config.dense_beside_experts else 0
    return plain + more / layers + (NORMS_ON_TOP if config.extra_norms else 0)
