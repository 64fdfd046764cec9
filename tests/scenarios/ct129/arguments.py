"""The arguments of CT129's server: asked, resolved, in effect; its environment and its answers.

The defaults of all 368 fields of ServerArgs 0.5.11 lie in server_args.json; what the resolver makes
of this command line was read in its source and agrees with runs of it on faked RTX A6000.
"""

from __future__ import annotations

import json
from typing import Any

from tests.scenarios.ct129 import story

_ASKED: tuple[str, ...] = (
    f"{story.VENV}/bin/python3", "-m", "sglang.launch_server",
    "--model-path", story.MODEL,
    "--served-model-name", "qwen3.6-27b",
    "--host", "0.0.0.0", "--port", str(story.PORT),
    "--tp-size", "2",
    "--speculative-algorithm", "NEXTN",
    "--speculative-num-steps", "3",
    "--speculative-eagle-topk", "1",
    "--speculative-num-draft-tokens", "4",
    "--disable-radix-cache",
    "--mamba-ssm-dtype", "bfloat16",
    "--mem-fraction-static", "0.85",
    "--context-length", "131072",
    "--reasoning-parser", "qwen3",
    "--tool-call-parser", "qwen3_coder",
    "--enable-metrics",
)  # fmt: skip

_PIECEWISE_TOKENS = [
    *range(4, 33, 4), *range(48, 257, 16), *range(288, 513, 32), *range(576, 1025, 64), *range(1280, 4097, 256),
]  # fmt: skip

_KEEPING = ("--mamba-scheduler-strategy", "extra_buffer")  # 0.5.11 refuses speculation without it

ENVIRONMENT = {
    "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
    "NCCL_CUMEM_ENABLE": "0",
    "NCCL_IB_DISABLE": "1",
    "OMP_NUM_THREADS": "1",
    "PATH": f"{story.VENV}/bin:/usr/local/bin:/usr/bin:/bin",
    "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
}


def asked() -> tuple[str, ...]:
    """Return the command line; a cache of prefixes is asked for as a hybrid model needs it."""
    if not story.PREFIX_CACHE:
        return _ASKED
    at = _ASKED.index("--disable-radix-cache")
    return (*_ASKED[:at], *_KEEPING, *_ASKED[at + 1 :])


def resolved() -> dict[str, Any]:
    """Return the main process' arguments after resolution, in the order of the fields."""
    defaults = json.loads((story.HERE / "server_args.json").read_text(encoding="utf-8"))
    changed = {
        "model_path": story.MODEL,
        "tokenizer_path": story.MODEL,
        "served_model_name": "qwen3.6-27b",
        "host": "0.0.0.0",
        "port": story.PORT,
        "tp_size": 2,
        "device": "cuda",
        "random_seed": 417_283_951,
        "context_length": 131072,
        "mem_fraction_static": 0.85,
        "max_running_requests": story.MAX_RUNNING,
        "chunked_prefill_size": story.CHUNK,
        "page_size": 1,
        "load_balance_method": "round_robin",
        "reasoning_parser": "qwen3",
        "tool_call_parser": "qwen3_coder",
        "enable_metrics": True,
        "attention_backend": "flashinfer",
        "sampling_backend": "flashinfer",
        "grammar_backend": "xgrammar",
        "speculative_algorithm": "EAGLE",
        "speculative_draft_model_path": story.MODEL,
        "speculative_num_steps": story.DRAFT_STEPS,
        "speculative_eagle_topk": 1,
        "speculative_num_draft_tokens": story.DRAFT_TOKENS,
        "speculative_moe_runner_backend": "auto",
        "expert_distribution_recorder_buffer_size": 1000,
        "mamba_ssm_dtype": "bfloat16",
        "mamba_scheduler_strategy": "extra_buffer" if story.PREFIX_CACHE else "no_buffer",
        "disable_radix_cache": not story.PREFIX_CACHE,
        "cuda_graph_max_bs": max(story.GRAPH_SIZES),
        "cuda_graph_bs": list(story.GRAPH_SIZES),
        "disable_piecewise_cuda_graph": True,
        "piecewise_cuda_graph_max_tokens": story.CHUNK,
        "piecewise_cuda_graph_tokens": _PIECEWISE_TOKENS,
        "custom_weight_loader": [],
        "mm_process_config": {},
    }
    unknown = set(changed) - set(defaults)
    assert not unknown, unknown
    return {**defaults, **changed}


def server_info(tokens: int, tok_s: float) -> dict[str, Any]:
    """Return the answer of /server_info."""
    effective = resolved() | {
        "pp_max_micro_batch_size": story.MAX_RUNNING,
        "max_mamba_cache_size": story.MAX_RUNNING,
        "disable_chunked_prefix_cache": True,
        "use_mla_backend": False,
        "last_gen_throughput": round(tok_s, 4),
        "memory_usage": {"weight": 26.12, "kvcache": 4.92, "token_capacity": tokens, "graph": 1.19},
        "avg_spec_accept_length": story.ACCEPT_LEN,
        "effective_max_running_requests_per_dp": story.MAX_RUNNING,
    }
    return {
        **resolved(),
        "status": "ready",
        "max_total_num_tokens": tokens,
        "max_req_input_len": 131066,
        "internal_states": [effective],
        "version": story.VERSION,
    }
