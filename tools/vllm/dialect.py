"""What a rule says in SGLang's words, said of vLLM: flags, fields, words of the log, folders.

Rules are written for the engine that is met most; where they hold for vLLM too, what they advise must
name what vLLM has. A step that has no counterpart there is left out, never advised. Flags of vLLM:
tools/knowledge/fields_vllm.txt; words of its log: vllm/v1/metrics/loggers.py of 0.9 to 0.32.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from tools.knowledge.fields import Field, sglang_fields, vllm_fields

_FLAGS = {
    "tp": "tensor-parallel-size", "tp-size": "tensor-parallel-size", "dp-size": "data-parallel-size",
    "pp-size": "pipeline-parallel-size", "mem-fraction-static": "gpu-memory-utilization",
    "context-length": "max-model-len", "max-running-requests": "max-num-seqs",
    "chunked-prefill-size": "max-num-batched-tokens", "disable-cuda-graph": "enforce-eager",
    "disable-decode-cuda-graph": "enforce-eager", "cuda-graph-max-bs": "max-cudagraph-capture-size",
    "cuda-graph-max-bs-decode": "max-cudagraph-capture-size", "disable-radix-cache": "no-enable-prefix-caching",
    "mamba-ssm-dtype": "mamba-ssm-cache-dtype", "model-path": "model", "log-requests": "enable-log-requests",
}  # fmt: skip
_WORDS = (
    (re.compile(r"\bdisable_cuda_graph\b"), "enforce_eager"),
    (re.compile(r"\bmax_running_requests\b"), "max_num_seqs"),
    (re.compile(r"\bcontext_length\b"), "max_model_len"),
    (re.compile(r"\bmem_fraction_static\b"), "gpu_memory_utilization"),
    (re.compile(r"\bdisable_radix_cache=True\b"), "enable_prefix_caching=False"),
    (re.compile(r"#running-req\b"), "Running"),
    (re.compile(r"#queue-req\b"), "Waiting"),
    (re.compile(r"#(?:cached|new)-token\b"), "Prefix cache hit rate"),
    (re.compile(r"\bDecode lines\b"), "stats lines"),
    (re.compile(r"\bDecode line\b"), "stats line"),
    (re.compile(r"\bgen throughput\b"), "Avg generation throughput"),
    (re.compile(r"\btoken[_ ]usage\b"), "GPU KV cache usage"),
    (re.compile(r"~/\.cache/sglang\b"), "~/.cache/vllm"),
    (re.compile(r"\baccept len\b"), "Mean acceptance length"),
)
_FLAG = re.compile(r"--(no-)?([a-z][a-z0-9-]{1,60})\b")
_FOREIGN = re.compile(
    r"\b(?:SGLANG|SGL)_[A-Z]|\bsglang\b|\bSGLang\b|'cuda graph: |\bextra_buffer\b"
)
_CLAUSES = re.compile(r"(?<=;) |, or (?=-)|, and (?=-)|, (?=--)")
NO_STEP = "vLLM changes this in its own way, which is not known here: vllm serve --help=all lists its flags."


def in_words_of_vllm(text: str) -> str:
    """Return a sentence with vLLM's flags, fields and words in it."""
    for pattern, word in _WORDS:
        text = pattern.sub(word, text)
    return _FLAG.sub(lambda found: f"--{_renamed((found[1] or '') + found[2])}", text)


def steps_for_vllm(steps: Iterable[str]) -> tuple[str, ...]:
    """Return steps as they are done with vLLM; parts that name what it does not have are left out."""
    kept: list[str] = []
    given = list(steps)
    for step in given:
        clauses = [one.strip() for one in _CLAUSES.split(in_words_of_vllm(step))]
        known = [one.rstrip(";,") for one in clauses if not foreign(one)]
        text = "; ".join(known) if len(known) < len(clauses) else in_words_of_vllm(step)
        if text and text not in kept:
            kept.append(text)
    return tuple(kept) or ((NO_STEP,) if given else ())


def foreign(text: str) -> bool:
    """Say whether a text names a flag or a variable that SGLang has and vLLM does not."""
    flags = {(no or "") + name for no, name in _FLAG.findall(text)}
    return bool(flags & _only_sglang() or _FOREIGN.search(text))


def _renamed(flag: str) -> str:
    return _FLAGS.get(flag, flag)


@cache
def _only_sglang() -> frozenset[str]:
    return _flags(sglang_fields().values()) - _flags(vllm_fields().values())


def _flags(fields: Iterable[Field]) -> frozenset[str]:
    every = list(fields)
    names = {field.name.replace("_", "-") for field in every if field.kind != "d"}
    names |= {alias for field in every for alias in field.aliases}
    return frozenset(names | {f"no-{name}" for name in names})
