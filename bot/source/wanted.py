"""Which files of SGLang's source a resolver will open: brought together, before they are asked for one by one.

Counted by following the resolvers of 0.5.9, 0.5.11, 0.5.14, 0.5.18 and 0.5.23 for a mixture of experts and for a
vision model with speculation: all but two or three of the files they open are of these patterns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

# Every resolver opens them: 100 to 330 files, 1.6 to 4.5 MB.
_FIRST = re.compile(
    r"sglang/srt/(?:server_args|environ|runtime_context|server_args_config_parser)\.py"
    r"|sglang/srt/(?:arg_groups|configs|function_call|platforms|plugins|parser)/.*\.py"
    r"|sglang/srt/utils/(?:__init__|common|runai_utils|server_args_config_parser|hf_transformers\w*)\.py"
    r"|sglang/srt/utils/hf_transformers/.*\.py"
    r"|sglang/srt/(?:connector/__init__|lora/lora_registry|model_executor/cuda_graph_config)\.py"
    r"|sglang/srt/sampling/(?:custom_logit_processor|watermarking/core)\.py"
    r"|sglang/srt/multimodal/\w*utils\.py|sglang/srt/hardware_backend/mlx/runtime\.py"
    r"|sglang/(?:jit_kernel|kernels/ops)/kv_canary/consts\.py"
    r"|sglang/(?:__init__|version|_version|srt/__init__)\.py"
    r"|sglang[^/]*\.(?:dist-info/METADATA|egg-info/PKG-INFO)"
)
# One that asks for a method of quantization, or drafts, opens what registers them all.
_SECOND = re.compile(
    r"sglang/srt/layers/(?:quantization/(?:(?:awq|gptq|quark|modelslim|compressed_tensors)/)?\w+"
    r"|moe/flashinfer_trtllm_moe|moe/moe_runner/\w+|cp/\w+|radix_attention)\.py"
    r"|sglang/srt/(?:utils/custom_op|utils/patch_torch|distributed/parallel_state)\.py"
    r"|sglang/srt/compilation/compilation_config\.py|sglang/srt/speculative/(?:spec\w+|ragged_verify)\.py"
    r"|sglang/srt/model_executor/.*breakable_cuda_graph/\w+\.py"
    r"|sglang/srt/hardware_backend/npu/quantization/\w+\.py"
    r"|sglang/(?:utils|kernel_api_logging|kernels/\w+|kernels/jit/utils/\w+|jit_kernel/(?:utils|nvfp4|activation))\.py"
    r"|sglang/(?:jit_kernel|kernels/ops/(?:activation|quantization))/(?:per_t\w+|activation|fp8_kernel)\.py"
    r"|sglang/(?:srt/kernel_plugins|kernels/plugin_kernels)/.*\.py"
    r"|sglang/srt/layers/(?:attention/linear/utils|attention/hpc_ops_backend)\.py"
)
_BESIDE_BYTES = 300_000  # of a folder whose one file was asked for


def first(names: Iterable[str]) -> list[str]:
    """Return the files that every resolver opens."""
    return [name for name in names if _FIRST.fullmatch(name)]


def beside(name: str, sizes: Mapping[str, int]) -> list[str]:
    """Return the files that whoever opens this one is likely to open next."""
    if _SECOND.fullmatch(name):
        return [other for other in sizes if _SECOND.fullmatch(other)]
    folder = name.rsplit("/", 1)[0]
    found = [other for other in sizes if other.rsplit("/", 1)[0] == folder]
    return found if sum(sizes[other] for other in found) <= _BESIDE_BYTES else []
