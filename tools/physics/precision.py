"""Bytes of one weight as it is read, by the name of its format, and what unpacking it costs."""

from __future__ import annotations

from tools.engine import ModelConfig
from tools.errors import Undecided
from tools.knowledge.gpus import Gpu

# Scales of groups included: AWQ and GPTQ in groups of 128, MXFP4 of 32, NVFP4 of 16.
WEIGHT_BYTES = {
    **dict.fromkeys(("bfloat16", "float16", "bf16", "fp16", "half"), 2.0),
    **dict.fromkeys(
        ("fp8", "w8a8_fp8", "modelopt_fp8", "modelopt", "fbgemm_fp8", "w8a8_int8", "int8"), 1.0
    ),
    **dict.fromkeys(
        ("awq", "awq_marlin", "marlin", "gptq", "gptq_marlin", "auto-round", "int4"), 0.53
    ),
    "mxfp4": 0.5313,
    **dict.fromkeys(("modelopt_fp4", "nvfp4"), 0.5625),
    "float32": 4.0,
}
_NAMED_BY_SIZE = (2.0, 1.0, 0.53)  # what a checkpoint of unnamed precision can be
_OF_BITS = {16: 2.0, 8: 1.0, 4: 0.53}
_EXPERTS_ALONE = ("mxfp4",)  # GPT-OSS keeps attention in bf16 (its modules_to_not_convert)

# Time of reading a weight that is unpacked before it is used, over its bytes. 1.05: Marlin on the
# cards it was written for (RTX 3090, 4 and 8 bit rows); 1.2: AWQ on RTX PRO 6000, int8 on A100.
UNPACKED_AT_HOME, UNPACKED = 1.05, 1.2


def weight_bytes(
    config: ModelConfig, told: str | None, weights_gb: float | None, params_b: float
) -> float:
    """Return the bytes of a weight by its format; raise Undecided where nothing tells it.

    `weights_gb` is as the log prints it: GiB, called GB.
    """
    named = told or config.quantization or config.dtype or "bfloat16"
    if named in ("gptq", "auto-round", "gptq_marlin", "compressed-tensors") and config.weight_bits:
        return _OF_BITS.get(config.weight_bits, config.weight_bits / 8)
    if named in WEIGHT_BYTES:
        return WEIGHT_BYTES[named]
    if weights_gb:
        each = weights_gb * 1.0737 / params_b
        fits = min(_NAMED_BY_SIZE, key=lambda size: abs(size / each - 1))
        if abs(fits / each - 1) < 0.4:
            return fits
    raise Undecided(f"how many bytes a weight takes under {named!r} is not known")


def kept_wide_b(size: float, whole_b: float, rest_gb: float, loaded: float | None) -> float:
    """Return the weights, in 1e9, that a checkpoint of a packed format keeps at 16 bit.

    Those named NVFP4 or AWQ often leave attention wider, as two makers' of Qwen3.6-27B: 22 GiB
    instead of 18. `loaded` is what the log prints (GiB, called GB); a tenth and 1 GB of it are let
    pass, for buffers and vision towers. `rest_gb` are the embedding and the lm_head.
    """
    if size >= 2 or not loaded:
        return 0.0
    expected = whole_b * size + rest_gb
    excess = loaded * 1.0737 - expected
    return excess / (2 - size) if excess > 0.1 * expected + 1 else 0.0


def expert_bytes(config: ModelConfig, told: str | None, each: float) -> float:
    """Return the bytes of an expert's weight where the experts alone are packed, else 0."""
    alone = (told or config.quantization) in _EXPERTS_ALONE or config.packed_experts_alone
    return each if config.experts and alone and each < 2 else 0.0


def unpacking(size: float, gpu: Gpu) -> float:
    """Return the time of reading a weight of `size` bytes over the time that its bytes take."""
    if size >= 2 or native(size, gpu):
        return 1.0
    return UNPACKED_AT_HOME if gpu.sm == "8.6" else UNPACKED


def native(size: float, gpu: Gpu) -> bool:
    """Say whether the tensor cores take packed weights of `size` bytes as they are.

    They then want activations of that format too, which kernels of their own make.
    """
    return bool({1.0: gpu.fp8_tflops, 0.5625: gpu.fp4_tflops, 0.5313: gpu.fp4_tflops}.get(size))
