"""From the words of a person to the field of the engine that is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.followup.intent import Intent
from tools.engine import Launch, ServerInfo, ServerLog, Value
from tools.knowledge.fields import sglang_fields, vllm_fields
from tools.known import Known

# Causes that are one switch, and its name in the engine.
_OF_A_CAUSE = {
    "piecewise_graph_off": "disable_piecewise_cuda_graph",
    "cuda_graph_disabled": "disable_cuda_graph",
    "prefix_cache_off": "disable_radix_cache",
    "custom_allreduce_off": "disable_custom_all_reduce",
    "overlap_off_spec_v1": "disable_overlap_schedule",
    "cuda_graph_bs_exceeded": "cuda_graph_max_bs",
    "attention_backend_fallback": "attention_backend",
    "chunked_prefill_stalls": "chunked_prefill_size",
}
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")


def field_of(intent: Intent, known: Known) -> str:
    """Return the field or variable that is meant: as named, else by what is suspected; else empty."""
    named = intent.text.strip().removeprefix("--").partition("=")[0]
    if _VARIABLE.fullmatch(named):
        return named
    name = named.replace("-", "_").replace(" ", "_").lower()
    if name in _fields() or name in dict(every_value(known)):
        return name
    by_cause = [_OF_A_CAUSE[cause] for cause in _OF_A_CAUSE if cause in intent.suspects]
    if (by_cause and " " in named) or not re.fullmatch(r"\w+", name):
        return by_cause[0] if by_cause else ""
    return name if "_" in name else (by_cause[0] if by_cause else "")


def is_variable(name: str) -> bool:
    """Say whether a name is one of the environment: NCCL_IB_DISABLE."""
    return bool(_VARIABLE.fullmatch(name))


def is_field(name: str) -> bool:
    """Say whether some version of an engine that is known has a field of that name."""
    return name in _fields()


def every_value(known: Known) -> Iterator[tuple[str, Value]]:
    """Return every argument that some look tells, those in effect last."""
    launch, info, log = known.get(Launch), known.get(ServerInfo), known.get(ServerLog)
    yield from ((launch.flags if launch else None) or {}).items()
    yield from ((log.resolved if log else None) or {}).items()
    yield from (info.resolved if info else {}).items()
    yield from (info.effective[0] if info and info.effective else {}).items()


def _fields() -> frozenset[str]:
    return frozenset(sglang_fields()) | frozenset(vllm_fields())
