"""What of a checkpoint costs time: weights by part, KV cache, recurrent state, counts of kernels.

Formulas from config.json to sizes (h hidden, I intermediate, q and kv heads of
size d), checked against the config.json of Qwen3.6-27B. Weights only; norms and biases are noise.
"""

from __future__ import annotations

from dataclasses import dataclass

from tools.engine import ModelConfig
from tools.errors import Undecided

# Bytes of one weight as it is read; scales of groups of 128 or 16 included.
WEIGHT_BYTES = {
    **dict.fromkeys(("bfloat16", "float16", "bf16", "fp16", "half"), 2.0),
    **dict.fromkeys(
        ("fp8", "w8a8_fp8", "modelopt_fp8", "modelopt", "fbgemm_fp8", "w8a8_int8"), 1.0
    ),
    **dict.fromkeys(("awq", "awq_marlin", "marlin", "mxfp4"), 0.53),
    **dict.fromkeys(("modelopt_fp4", "nvfp4"), 0.5625),
    "float32": 4.0,
}
STATE_BYTES = 4.0  # SGLang: configs/mamba_utils.py of 0.5.11, unless the config says otherwise
_NAMED_BY_SIZE = (2.0, 1.0, 0.53)  # what a checkpoint of unnamed precision can be


@dataclass(frozen=True)
class Checkpoint:
    """Sizes of one checkpoint. Parameters in 1e9; `_b` for billions."""

    layers: int
    hidden: int
    params_b: float  # read per token: layers only, without embedding and lm_head
    head_b: float  # lm_head
    weight_bytes: float = 2.0
    head_bytes: float = 2.0
    kv_bytes_per_token: float = 0.0  # all layers, at 16 bit
    state_gb: float = 0.0  # recurrent state of one sequence, read and written for every token
    kernels_per_layer: int = 12  # dense 12, hybrid linear attention 16, mixture of experts 20
    total_params_b: float = 0.0  # mixture of experts: with all experts
    draft_b: float = 0.0  # the draft (MTP) layer
    draft_bytes: float = 2.0
    draft_replicated_b: float = 0.0  # of it, held whole by every GPU

    @property
    def vocabulary(self) -> float:
        """Return the width of the logits."""
        return self.head_b * 1e9 / self.hidden

    @staticmethod
    def of(
        config: ModelConfig,
        *,
        quantization: str | None = None,
        weights_gb: float | None = None,
        state_bytes: float = STATE_BYTES,
    ) -> Checkpoint:
        """Work sizes out of a config; raise Undecided where it lacks what decides.

        `quantization` is what the server was told, which goes before the config's own;
        `weights_gb` is what loading them took on all GPUs together, and settles a precision that
        no name tells. `state_bytes` is of one element of the recurrent state.
        """
        layers, hidden, vocabulary = config.layers, config.hidden, config.vocabulary
        if not (layers and hidden and vocabulary):
            raise Undecided("the model's config tells neither layers, hidden size nor vocabulary")
        attention = _attention_b(config, hidden)
        mlp, mlp_all = _mlp_b(config, hidden)
        linear = config.linear_layers or 0
        full = layers - linear
        active = full * attention + linear * _linear_b(config, hidden) + layers * mlp
        everything = active + layers * (mlp_all - mlp)
        head = hidden * vocabulary / 1e9
        weight_bytes = _weight_bytes(
            config, quantization, weights_gb, everything + head * (1 if config.tied_head else 2)
        )
        return Checkpoint(
            layers=layers,
            hidden=hidden,
            params_b=active,
            head_b=head,
            weight_bytes=weight_bytes,
            kv_bytes_per_token=full * _kv_elements(config) * 2,
            state_gb=_state_elements(config, linear) * state_bytes / 1e9,
            kernels_per_layer=20 if config.experts else 16 if linear else 12,
            total_params_b=everything if config.experts else 0.0,
            draft_b=attention + mlp if config.draft_layers else 0.0,
            draft_replicated_b=2 * hidden * hidden / 1e9 if config.draft_layers else 0.0,
        )


def _attention_b(config: ModelConfig, h: int) -> float:
    q = config.heads
    if not q:
        raise Undecided("the model's config does not tell its attention heads")
    if config.mla:  # DeepSeek-V3 shapes: q and kv low-rank 1536 and 512, heads of 128 + 64
        return (h * 1536 + 1536 * q * 192 + h * 576 + 512 * q * 256 + q * 128 * h) / 1e9
    d, kv = config.head_dim or h // q, config.kv_heads or q
    gate = 2 if config.output_gate else 1
    return (gate * h * q * d + 2 * h * kv * d + q * d * h) / 1e9


def _linear_b(config: ModelConfig, h: int) -> float:
    nk, nv = config.linear_key_heads, config.linear_value_heads
    kd, vd = config.linear_key_dim, config.linear_value_dim
    if not config.linear_layers:
        return 0.0
    if not (nk and nv and kd and vd):
        raise Undecided("the model has linear attention whose heads its config does not tell")
    return (h * (2 * nk * kd + 2 * nv * vd) + 2 * h * nv + nv * vd * h) / 1e9


def _mlp_b(config: ModelConfig, h: int) -> tuple[float, float]:
    """Return the feed-forward part of a layer: what one token reads, and all there is."""
    if not config.experts:
        if not config.intermediate:
            raise Undecided("the model's config does not tell its feed-forward size")
        size = 3 * h * config.intermediate / 1e9
        return size, size
    if not (config.moe_intermediate and config.experts_per_token):
        raise Undecided("the model has experts whose size its config does not tell")
    one = 3 * h * config.moe_intermediate / 1e9
    shared = 3 * h * (config.shared_expert_intermediate or 0) / 1e9
    return config.experts_per_token * one + shared, config.experts * one + shared


def _kv_elements(config: ModelConfig) -> float:
    if config.mla:
        return 576
    d = config.head_dim or (config.hidden or 0) // (config.heads or 1)
    return 2 * (config.kv_heads or config.heads or 0) * d


def _state_elements(config: ModelConfig, linear: int) -> int:
    heads = config.linear_value_heads or 0
    return linear * heads * (config.linear_key_dim or 0) * (config.linear_value_dim or 0)


def _weight_bytes(
    config: ModelConfig, told: str | None, weights_gb: float | None, params_b: float
) -> float:
    named = told or config.quantization
    if named is None:
        named = config.dtype or "bfloat16"
    if named in WEIGHT_BYTES:
        return WEIGHT_BYTES[named]
    if weights_gb:
        each = weights_gb * 1.0737 / params_b  # the log prints GiB and calls them GB
        fits = min(_NAMED_BY_SIZE, key=lambda size: abs(size / each - 1))
        if abs(fits / each - 1) < 0.4:
            return fits
    raise Undecided(f"how many bytes a weight takes under {named!r} is not known")
