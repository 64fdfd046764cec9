"""What of a checkpoint costs time."""

from __future__ import annotations

from tools.probe import Facts


class ModelConfig(Facts):
    """What of a model's config.json costs time. Sizes in elements, not bytes, unless named."""

    architecture: str | None = None
    model_type: str | None = None
    layers: int | None = None
    hidden: int | None = None
    intermediate: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    vocabulary: int | None = None
    tied_head: bool | None = None
    full_attention_layers: int | None = None
    linear_layers: int | None = None
    linear_key_heads: int | None = None
    linear_value_heads: int | None = None
    linear_key_dim: int | None = None
    linear_value_dim: int | None = None
    experts: int | None = None
    experts_per_token: int | None = None
    moe_intermediate: int | None = None
    shared_expert_intermediate: int | None = None
    dense_layers: int | None = None  # the first, without experts
    moe_layers: int | None = None  # with experts, where they are counted or come every so often
    dense_beside_experts: bool | None = None
    feed_forward_layers: int | None = (
        None  # where attention and feed-forward are layers of their own
    )
    ungated: bool | None = None  # a feed-forward part of two matrices
    extra_norms: bool | None = None  # after attention and feed-forward as well
    norms_across_heads: bool | None = None  # one norm of all queries, one of all keys of a layer
    sliding_layers: int | None = None  # see a window alone
    sliding_window: int | None = None
    mamba: bool | None = None  # the layers with a state are Mamba-2
    mla: bool | None = None
    mla_kv_rank: int | None = None
    mla_q_rank: int | None = None  # 0: the query has no low rank
    mla_rope_dim: int | None = None
    mla_nope_dim: int | None = None
    mla_value_dim: int | None = None
    draft_layers: int | None = None
    dtype: str | None = None
    quantization: str | None = None
    weight_bits: int | None = None  # of a packed weight, where the config tells it
    packed_experts_alone: bool | None = None
    output_gate: bool | None = None
    multimodal: bool | None = None
    context: int | None = None
