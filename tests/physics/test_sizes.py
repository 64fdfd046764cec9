"""Sizes of layers by their config: the parameters that model cards name, caches, counts of kernels."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.physics.published import GPUS
from tools.physics import Checkpoint, Deployment, Link
from tools.physics.exchange import links_ms
from tools.physics.link import allreduce_us
from tools.sglang.model_config import model_config, read_model_config

RAW = Path(__file__).parents[1] / "golden" / "ReadModelConfig"
GEMMA = {
    "model_type": "gemma3_text", "num_hidden_layers": 62, "hidden_size": 5376, "intermediate_size": 21504,
    "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128, "vocab_size": 262208,
    "sliding_window": 1024, "sliding_window_pattern": 6, "tie_word_embeddings": True,
}  # fmt: skip
NEMOTRON = {
    "model_type": "nemotron_h", "num_hidden_layers": 52, "hidden_size": 4096, "intermediate_size": 21504,
    "num_attention_heads": 32, "num_key_value_heads": 8, "attention_head_dim": 128, "vocab_size": 131072,
    "hybrid_override_pattern": "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-",
    "mamba_num_heads": 128, "mamba_head_dim": 64, "n_groups": 8, "ssm_state_size": 128,
    "mlp_hidden_act": "relu2", "torch_dtype": "bfloat16",
}  # fmt: skip


def of_file(name: str) -> Checkpoint:
    return Checkpoint.of(read_model_config((RAW / f"{name}.out").read_text(encoding="utf-8")))


def of(told: dict[str, Any], **more: Any) -> Checkpoint:
    return Checkpoint.of(model_config(told | more))


@pytest.mark.parametrize(
    ("name", "active", "total"),
    [
        ("deepseek_v3_mla", 37, 671),
        ("glm4_moe_shared_expert", 9.4, 106),  # this file tells no head_dim, so heads are of 42
        ("gpt_oss_sliding", 5.1, 117),
        ("kimi_linear_with_modelopt_fp4", 3, 48),
        ("llama4_multimodal", 17, 109),
        ("mixtral", 12.9, 46.7),
        ("qwen3_moe", 3.3, 30.5),
        ("qwen3_next_hybrid_moe", 3.9, 80),
    ],
)
def test_an_expert_model_has_the_parameters_of_its_card(
    name: str, active: float, total: float
) -> None:
    sizes = of_file(name)
    assert sizes.params_b + sizes.head_b == pytest.approx(active, rel=0.1)
    assert sizes.total_params_b + 2 * sizes.head_b == pytest.approx(total, rel=0.07)
    assert sizes.routed_b < sizes.params_b


def test_a_model_of_windows_keeps_few_layers_of_a_long_context() -> None:
    sizes = of(GEMMA)
    assert sizes.params_b == pytest.approx(27 - 1.4, rel=0.05)
    assert sizes.window == 1024
    assert sizes.kv_bytes_per_token == 10 * 2 * 16 * 128 * 2
    assert sizes.sliding_kv_bytes_per_token == 52 * 2 * 16 * 128 * 2
    assert sizes.kernels_per_layer == 15
    assert of(GEMMA, use_sliding_window=False).window == 0


@pytest.mark.parametrize(
    ("told", "across"),
    [
        ({"use_qk_norm": True, "qk_norm_type": "per_layer"}, True),  # MiniMax-M2
        ({"use_qk_norm": True, "qk_norm_type": "per_head"}, False),  # MiniMax-M3
        ({"use_qk_norm": False, "qk_norm_type": "per_layer"}, False),
        ({"use_qk_norm": True}, False),
    ],
)
def test_norms_across_heads_are_told_by_the_config(told: dict[str, Any], across: bool) -> None:
    assert of(GEMMA, **told).norms_across_heads is across


def test_norms_across_heads_are_one_more_exchange_of_a_layer_among_gpus_that_share_it() -> None:
    apart = of(GEMMA, use_qk_norm=True, qk_norm_type="per_head")
    across = replace(apart, norms_across_heads=True)

    def links(checkpoint: Checkpoint, **run: Any) -> float:
        link = Link.nv_kind("nvlink5")
        return links_ms(Deployment(checkpoint, GPUS["B200 SXM"], link=link, **run))

    one = allreduce_us(8, 8, Link.nv_kind("nvlink5")) / 1e3
    assert links(across, tp=8) - links(apart, tp=8) == pytest.approx(62 * one)
    assert links(across, tp=1) == links(apart, tp=1)
    alone: dict[str, Any] = {"tp": 8, "attention_dp": 8, "batch": 8}
    assert links(across, **alone) == links(apart, **alone)


def test_a_model_of_mamba_layers_has_a_state_and_few_caches() -> None:
    sizes = of(NEMOTRON)
    assert sizes.params_b + 2 * sizes.head_b == pytest.approx(8.1, rel=0.05)
    assert sizes.kv_bytes_per_token == 4 * 2 * 8 * 128 * 2
    assert sizes.state_gb == pytest.approx(24 * 128 * 64 * 128 * 4 / 1e9)


def test_latent_attention_without_a_low_rank_of_the_query_is_told_apart() -> None:
    told = json.loads((RAW / "deepseek_v3_mla.out").read_text(encoding="utf-8"))
    assert of(told, q_lora_rank=None).attention_b > of(told).attention_b * 1.1
    assert of(told).kv_ways == 1


def test_experts_in_every_second_layer_alone_are_half_the_experts() -> None:
    told = json.loads((RAW / "qwen3_moe.out").read_text(encoding="utf-8"))
    whole, half = of(told), of(told, decoder_sparse_step=2)
    assert half.routed_total_b == pytest.approx(whole.routed_total_b / 2)
    assert half.kernels_per_layer == 18


@pytest.mark.parametrize(
    ("told", "weight", "expert"),
    [
        ({"quant_method": "gptq", "bits": 4}, 0.53, 0.0),
        ({"quant_method": "gptq", "bits": 8}, 1.0, 0.0),
        ({"quant_method": "mxfp4"}, 2.0, 0.5313),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 4}}},
                "ignore": ["lm_head", "re:.*self_attn.*"],
            },
            2.0,
            0.53,
        ),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 8}}},
                "ignore": ["lm_head"],
            },
            1.0,
            0.0,
        ),
    ],
)
def test_a_packed_checkpoint_tells_which_weights_take_how_much(
    told: dict[str, Any], weight: float, expert: float
) -> None:
    config = json.loads((RAW / "qwen3_moe.out").read_text(encoding="utf-8"))
    sizes = of(config, quantization_config=told)
    assert (sizes.weight_bytes, sizes.expert_bytes) == (weight, expert)
