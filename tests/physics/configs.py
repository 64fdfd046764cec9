"""Configs of models whose sizes are known."""

from __future__ import annotations

from tools.engine import ModelConfig

QWEN27 = ModelConfig(
    architecture="Qwen3_5ForConditionalGeneration",
    layers=64,
    hidden=5120,
    intermediate=17408,
    heads=24,
    kv_heads=4,
    head_dim=256,
    vocabulary=248320,
    tied_head=False,
    full_attention_layers=16,
    linear_layers=48,
    linear_key_heads=16,
    linear_value_heads=48,
    linear_key_dim=128,
    linear_value_dim=128,
    draft_layers=1,
    dtype="bfloat16",
    output_gate=True,
)
QWEN14 = ModelConfig(
    layers=40,
    hidden=5120,
    intermediate=17408,
    heads=40,
    kv_heads=8,
    head_dim=128,
    vocabulary=151936,
)
QWEN30A3 = ModelConfig(
    layers=48, hidden=2048, intermediate=6144, heads=32, kv_heads=4, head_dim=128, vocabulary=151936,
    experts=128, experts_per_token=8, moe_intermediate=768,
)  # fmt: skip
DEEPSEEK = ModelConfig(
    layers=61, hidden=7168, intermediate=18432, heads=128, kv_heads=128, vocabulary=129280, mla=True,
    experts=256, experts_per_token=8, moe_intermediate=2048, shared_expert_intermediate=2048, quantization="fp8",
)  # fmt: skip
