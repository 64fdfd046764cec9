"""Shapes of layers that a config.json tells under many names: MLA, windows, Mamba, dense among experts.

Names as in Transformers 5 (configuration_deepseek_v3, gemma3, gemma4, nemotron_h, granitemoehybrid,
llama4, qwen3_moe, ernie4_5_moe) and in the quantization_config of GPTQ and compressed-tensors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Part = Mapping[str, Any]
_EVERY = ("decoder_sparse_step", "interleave_moe_layer_step")
_KINDS = ("layer_types", "layers_block_type", "attn_type_list")


def latent(part: Part) -> dict[str, Any]:
    """Return what tells MLA's sizes; nothing where attention is of another kind."""
    if _count(part, "kv_lora_rank") is None:
        return {}
    told = "q_lora_rank" in part
    return {
        "mla_kv_rank": _count(part, "kv_lora_rank"),
        "mla_q_rank": (_count(part, "q_lora_rank") or 0) if told else None,
        "mla_rope_dim": _count(part, "qk_rope_head_dim"),
        "mla_nope_dim": _count(part, "qk_nope_head_dim"),
        "mla_value_dim": _count(part, "v_head_dim"),
    }


def windows(part: Part, layers: int) -> dict[str, Any]:
    """Return how many layers see a window alone, and how wide it is."""
    wide = _count(part, "sliding_window")
    if not wide or part.get("use_sliding_window") is False:
        return {}
    kinds = next((part[name] for name in _KINDS if isinstance(part.get(name), list)), None)
    if kinds is not None:
        sliding = sum("sliding" in str(kind) or "local" in str(kind) for kind in kinds)
    elif every := _count(part, "sliding_window_pattern"):
        sliding = layers - layers // every
    else:
        sliding = layers
    return {"sliding_layers": sliding, "sliding_window": wide} if sliding else {}


def norms(part: Part) -> dict[str, Any]:
    """Return whether queries and keys are normed over all heads (SGLang's minimax_m2.py)."""
    across = part.get("use_qk_norm") is True and part.get("qk_norm_type") == "per_layer"
    return {"norms_across_heads": True} if across else {}


def mamba(part: Part) -> dict[str, Any]:
    """Return the heads of Mamba-2 layers under the names of linear attention, or nothing."""
    heads = _count(part, "mamba_num_heads", "mamba_n_heads")
    if not heads:
        return {}
    return {
        "mamba": True,
        "linear_key_heads": _count(part, "n_groups", "mamba_n_groups"),
        "linear_value_heads": heads,
        "linear_key_dim": _count(part, "ssm_state_size", "mamba_d_state"),
        "linear_value_dim": _count(part, "mamba_head_dim", "mamba_d_head"),
    }


def feed_forward(part: Part, layers: int) -> dict[str, Any]:
    """Return which layers are dense, which have experts, and what stands beside them."""
    pattern, family = part.get("hybrid_override_pattern"), str(part.get("model_type"))
    told: dict[str, Any] = {"dense_layers": _count(part, "first_k_dense_replace")}
    if isinstance(pattern, str):  # Nemotron-H: - is a dense feed-forward part, E has experts
        told["feed_forward_layers"] = pattern.count("-") + pattern.count("E")
        told["moe_layers"] = pattern.count("E") or None
    else:
        told["moe_layers"] = _with_experts(part, layers)
    if part.get("mlp_hidden_act") == "relu2" or part.get("hidden_act") == "relu2":
        told["ungated"] = True
    if family.startswith(("gemma2", "gemma3", "gemma4")):
        told["extra_norms"] = True
        told["dense_beside_experts"] = True if part.get("enable_moe_block") else None
    return {name: value for name, value in told.items() if value is not None}


def packing(whole: Part, part: Part) -> dict[str, Any]:
    """Return the bits of a packed weight, and whether the experts alone are packed."""
    names = ("quantization_config", "compression_config")
    told = next((s[n] for s in (whole, part) for n in names if isinstance(s.get(n), Mapping)), None)
    if told is None:
        return {}
    bits, groups = _count(told, "bits", "w_bit"), told.get("config_groups")
    if bits is None and isinstance(groups, Mapping):
        weights = [g.get("weights") for g in groups.values() if isinstance(g, Mapping)]
        bits = next((_count(w, "num_bits") for w in weights if isinstance(w, Mapping)), None)
    spared = told.get("ignore") or told.get("modules_to_not_convert") or ()
    alone = _names_attention(spared) or None
    return {name: v for name, v in (("weight_bits", bits), ("packed_experts_alone", alone)) if v}


def _with_experts(part: Part, layers: int) -> int | None:
    if isinstance(freq := part.get("moe_layer_freq"), list):
        return sum(bool(one) for one in freq)
    every, start = _count(part, *_EVERY), _count(part, "moe_layer_start_index")
    count = layers // every if every and every > 1 else None
    if start is not None:
        count = layers - start
    dense = part.get("mlp_only_layers")
    if isinstance(dense, list) and dense:
        count = (count or layers) - len(dense)
    return count


def _names_attention(spared: object) -> bool:
    """Say whether all attention is spared: by a pattern, or by layer after layer."""
    if not isinstance(spared, Sequence) or isinstance(spared, str):
        return False
    named = [one for one in spared if isinstance(one, str) and "self_attn" in one]
    return any("*" in one for one in named) or len(named) > 8


def _count(part: Part, *names: str) -> int | None:
    for name in names:
        value = part.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9:
            return value
    return None
