"""A checkpoint's config.json, whatever its family calls things.

Names per family: Llama, Qwen, Mixtral, GPT-OSS, GLM, DeepSeek (MLA), Gemma, Kimi-Linear, Nemotron-H;
multimodal ones keep the language part under `text_config` or a like name. Sources: the files
configuration_*.py of Transformers 5 and of SGLang 0.5.23 (srt/configs).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.engine import ModelConfig
from tools.errors import Unreadable
from tools.probe import JSON
from tools.sglang import layer_shapes

_TEXT = ("text_config", "llm_config", "language_config", "thinker_config", "decoder")
_VISION = ("vision_config", "audio_config", "visual", "vision_encoder", "mm_config")
_LAYERS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")
_EXPERTS = ("num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts")
_CHOSEN = ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_top_k", "top_k_experts")
_DRAFT = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules", "mtp_num_layers")


def read_model_config(text: str) -> ModelConfig:
    """Read a config.json; raise Unreadable where it is none."""
    start = text.find("{")
    try:
        tree, _ = JSON.raw_decode(text, start) if start >= 0 else (None, 0)
    except (ValueError, RecursionError):
        raise Unreadable("config.json is not whole, or no JSON") from None
    if not isinstance(tree, dict):
        raise Unreadable("no JSON object")
    return model_config(tree)


def is_model_config(text: str) -> bool:
    """Say whether a text is a config.json: JSON that names an architecture and its layers."""
    layers = any(f'"{name}"' in text for name in _LAYERS)
    return text.lstrip().startswith("{") and layers and '"model_type"' in text


def model_config(whole: Mapping[str, Any]) -> ModelConfig:
    """Return the facts of a parsed config.json."""
    part = _language_part(whole)
    layers, hidden, heads = (
        _first(part, *_LAYERS),
        _first(part, "hidden_size", "n_embd"),
        _heads(part),
    )
    if layers is None or hidden is None:
        raise Unreadable("JSON, but it tells neither layers nor hidden size")
    full, linear = _kinds_of_layers(part, layers)
    architectures = whole.get("architectures") or part.get("architectures")
    tied = part.get("tie_word_embeddings", whole.get("tie_word_embeddings"))
    return ModelConfig(
        architecture=str(architectures[0])[:100]
        if isinstance(architectures, list) and architectures
        else None,
        model_type=_word(whole.get("model_type")) or _word(part.get("model_type")),
        layers=layers,
        hidden=hidden,
        intermediate=_first(
            part, "intermediate_size_mlp", "intermediate_size", "ffn_hidden_size", "n_inner"
        ),
        heads=heads,
        kv_heads=_first(part, "num_key_value_heads", "num_kv_heads", "multi_query_group_num")
        or heads,
        head_dim=_head_dim(part, hidden, heads),
        vocabulary=_first(part, "vocab_size", "padded_vocab_size") or _first(whole, "vocab_size"),
        tied_head=tied if isinstance(tied, bool) else None,
        full_attention_layers=full,
        linear_layers=linear,
        mla="kv_lora_rank" in part and part["kv_lora_rank"] is not None,
        draft_layers=_first(part, *_DRAFT) or _first(whole, *_DRAFT),
        dtype=_dtype(whole, part),
        quantization=_quantization(whole, part),
        output_gate=_output_gate(part),
        multimodal=any(isinstance(whole.get(name), Mapping) for name in _VISION),
        context=_first(part, "max_position_embeddings", "seq_length", "max_sequence_length"),
        **layer_shapes.latent(part),
        **layer_shapes.windows(part, layers),
        **layer_shapes.norms(part),
        **layer_shapes.packing(whole, part),
        **(layer_shapes.mamba(part) or _linear_heads(part)),
        **_mixture(part),
        **layer_shapes.feed_forward(part, layers),
    )


def _output_gate(part: Mapping[str, Any]) -> bool | None:
    """Qwen3-Next and Qwen3.5 gate attention unless told (srt/models/qwen3_next.py:621 of 0.5.11)."""
    told = part.get("attn_output_gate")
    if isinstance(told, bool):
        return told
    kind = _word(part.get("model_type")) or ""
    return True if kind.startswith(("qwen3_next", "qwen3_5")) else None


def _language_part(whole: Mapping[str, Any]) -> Mapping[str, Any]:
    part = whole
    for _ in range(3):
        inner = next((part[name] for name in _TEXT if isinstance(part.get(name), Mapping)), None)
        if inner is None:
            return part
        part = inner
    return part


def _int(value: object) -> int | None:
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9
        else None
    )


def _first(part: Mapping[str, Any], *names: str) -> int | None:
    return next((n for name in names if (n := _int(part.get(name))) is not None), None)


def _word(value: object) -> str | None:
    return value[:100] if isinstance(value, str) else None


def _heads(part: Mapping[str, Any]) -> int | None:
    return _first(part, "num_attention_heads", "n_head", "n_heads")


def _head_dim(part: Mapping[str, Any], hidden: int, heads: int | None) -> int | None:
    told = _first(part, "head_dim", "attention_head_dim", "kv_channels")
    return told or (hidden // heads if heads and hidden % heads == 0 else None)


def _kinds_of_layers(part: Mapping[str, Any], layers: int) -> tuple[int | None, int | None]:
    """Return how many layers look at every token, and how many keep a state of fixed size."""
    kinds = part.get("layer_types") or part.get("layers_block_type") or part.get("attn_type_list")
    if isinstance(kinds, list) and kinds:
        names = [str(kind) for kind in kinds]
        linear = sum("linear" in n or "mamba" in n or "recurrent" in n or n == "0" for n in names)
        sliding = sum("sliding" in n or "local" in n or "chunked" in n for n in names)
        return len(names) - linear - sliding, linear or None
    pattern = part.get("hybrid_override_pattern")
    if isinstance(pattern, str):  # Nemotron-H: M is Mamba, * attention, - feed-forward
        return pattern.count("*"), pattern.count("M") or None
    linear_part = part.get("linear_attn_config")
    if isinstance(linear_part, Mapping):  # Kimi-Linear
        full, linear_ids = linear_part.get("full_attn_layers"), linear_part.get("kda_layers")
        if isinstance(full, list) and isinstance(linear_ids, list):
            return len(full), len(linear_ids) or None
    every = _first(part, "full_attention_interval")
    if every and "linear_num_value_heads" in part:
        return layers // every, layers - layers // every
    return (layers, None) if "sliding_window_pattern" not in part else (None, None)


def _linear_heads(part: Mapping[str, Any]) -> dict[str, Any]:
    inner = part.get("linear_attn_config")
    if isinstance(inner, Mapping):
        heads, size = _first(inner, "num_heads"), _first(inner, "head_dim")
        return {
            "linear_key_heads": heads,
            "linear_value_heads": heads,
            "linear_key_dim": size,
            "linear_value_dim": size,
        }
    return {
        "linear_key_heads": _first(part, "linear_num_key_heads"),
        "linear_value_heads": _first(part, "linear_num_value_heads"),
        "linear_key_dim": _first(part, "linear_key_head_dim"),
        "linear_value_dim": _first(part, "linear_value_head_dim"),
    }


def _mixture(part: Mapping[str, Any]) -> dict[str, Any]:
    experts = _first(part, *_EXPERTS)
    if not experts:
        return {}
    each = _first(part, "moe_intermediate_size", "expert_ffn_hidden_size")
    if each is None:  # Mixtral, GPT-OSS, Llama 4: the feed-forward size is that of one expert
        each = _first(part, "intermediate_size")
    shared = _first(part, "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size")
    count = _first(part, "n_shared_experts", "num_shared_experts")
    if shared is None and (_word(part.get("model_type")) or "").startswith("llama4"):
        count = 1  # beside the routed ones in every layer (modeling_llama4.py)
    if shared is None and count and each:
        shared = count * each
    return {
        "experts": experts,
        "experts_per_token": _first(part, *_CHOSEN),
        "moe_intermediate": each,
        "shared_expert_intermediate": shared,
    }


def _dtype(whole: Mapping[str, Any], part: Mapping[str, Any]) -> str | None:
    told = (source.get(name) for source in (whole, part) for name in ("dtype", "torch_dtype"))
    return next((word.removeprefix("torch.") for t in told if (word := _word(t))), None)


def _quantization(whole: Mapping[str, Any], part: Mapping[str, Any]) -> str | None:
    """Return the method as SGLang names it: modelopt's is told apart by its algorithm."""
    names = ("quantization_config", "compression_config")
    told = next((s[n] for s in (whole, part) for n in names if isinstance(s.get(n), Mapping)), None)
    if told is None:
        return None
    method = _word(told.get("quant_method")) or _word(told.get("quant_algo"))
    algorithm = (_word(told.get("quant_algo")) or "").lower()
    if method == "modelopt" and algorithm:
        return "modelopt_fp4" if "fp4" in algorithm else f"modelopt_{algorithm.split('_')[0]}"
    return method
