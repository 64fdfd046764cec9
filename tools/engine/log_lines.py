"""What single lines of a serve log say: decode and prefill reports, captures, notices."""

from __future__ import annotations

from typing import Literal

from tools.probe import Facts

NoticeKind = Literal[
    "override", "refusal", "graph_off", "overlap_off", "radix_off", "custom_ar_off", "cap", "clamp",
    "kernel", "speculation", "numa", "retraction", "oom", "watchdog", "crash", "start_failed",
    "health", "shutdown", "slow_tokenizer", "collective", "nccl_error", "benign",
]  # fmt: skip


class DecodeLine(Facts):
    """One decode report of the log. `tok_s` is the whole server's (or rank's), not one user's."""

    at: str | None = None  # as printed, "2026-09-02 07:00:17"
    rank: str = ""
    running: int | None = None
    queued: int | None = None
    tokens: int | None = None
    usage: float | None = None  # of the KV pool, 0 to 1 (hybrid models: of the full-attention pool)
    swa_usage: float | None = None
    mamba_usage: float | None = None
    accept_len: float | None = None
    accept_rate: float | None = None
    graph: bool | None = None
    tok_s: float | None = None
    occupancy_pct: float | None = None  # "fwd occupancy": how much of the time the GPU computed
    prompt_tok_s: float | None = None  # vLLM prints both rates in one line
    cache_hit: float | None = None  # vLLM's prefix cache hit rate, 0 to 1
    after_gap: bool = False  # first line after a prefill or an idle gap: its rate means nothing


class PrefillLine(Facts):
    """One prefill batch of the log."""

    at: str | None = None
    rank: str = ""
    new_seqs: int | None = None
    new_tokens: int | None = None
    cached_tokens: int | None = None
    usage: float | None = None
    swa_usage: float | None = None
    mamba_usage: float | None = None
    running: int | None = None
    queued: int | None = None
    pending: int | None = None
    graph: bool | None = None
    tok_s: float | None = None


class Capture(Facts):
    """One capture of CUDA graphs. `sizes` are batch sizes, or token counts for prefill."""

    what: str  # "decode", "draft decode", "draft extend", "verify", "prefill"
    sizes: tuple[int, ...] = ()
    took_s: float | None = None
    mem_gb: float | None = None
    finished: bool = False


class Notice(Facts):
    """A line that is neither traffic nor start-up: a refusal, an override, a trouble."""

    kind: NoticeKind
    text: str  # the message without its prefix, capped
    at: str | None = None
    rank: str = ""
    times: int = 1
    numbers: dict[str, float] = {}  # what the message counts, by name
