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
    mla: bool | None = None
    draft_layers: int | None = None
    dtype: str | None = None
    quantization: str | None = None
    output_gate: bool | None = None
    multimodal: bool | None = None
    context: int | None = None
