"""A serve log, read: traffic, start-up, and what the engine complains of."""

from __future__ import annotations

from statistics import median
from typing import Any, Literal

from tools.engine.launch import EngineName, Value
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


class EarlierRun(Facts):
    """What is kept of a run before this one, to compare with: its steps and how it was made."""

    version: str | None = None
    resolved: dict[str, Value] | None = None
    steps_ms: dict[int, float] = {}  # requests running -> median decode step
    graph_addresses: int | None = None


class ServerLog(Facts):
    """A serve log, read: the last run in it, with the start-up of that run.

    `resolved` are the arguments of the `server_args` dump, allow-listed; None if the log holds
    none. `unexplained` are lines that no form matches, capped; `unexplained_count` counts all.
    """

    engine: EngineName | None = None
    version: str | None = None
    runs: int = 1
    resolved: dict[str, Value] | None = None
    decode: tuple[DecodeLine, ...] = ()
    prefill: tuple[PrefillLine, ...] = ()
    captures: tuple[Capture, ...] = ()
    notices: tuple[Notice, ...] = ()
    started: bool | None = None  # the ready line was seen
    max_total_tokens: int | None = None
    max_running: int | None = None
    chunked_prefill: int | None = None
    context_len: int | None = None
    model_type: str | None = None
    quant: str | None = None
    weights_gb: float | None = None
    kv_gb: float | None = None
    mamba_slots: int | None = None
    graph_addresses: int | None = None  # registered: the custom all-reduce works
    before: EarlierRun | None = None  # from another file, with a start of its own
    first_line_at: str | None = None  # of the run
    last_request_at: str | None = None
    last_line_at: str | None = None
    health_prefills: int = 0  # one-token prefills of /health, not counted as traffic
    lines: int = 0
    cut_lines: int = 0  # not shown to us by the filter on the host
    unexplained: tuple[str, ...] = ()
    unexplained_count: int = 0

    def said(self, *kinds: NoticeKind) -> tuple[Notice, ...]:
        """Return the notices of some kinds."""
        return tuple(notice for notice in self.notices if notice.kind in kinds)

    def steady(self) -> tuple[DecodeLine, ...]:
        """Return the decode lines whose rate means something: not the first after a gap."""
        return tuple(line for line in self.decode if not line.after_gap and line.tok_s)

    def brief(self) -> str:
        """Say how much traffic was seen and what stands out."""
        kinds = sorted({notice.kind for notice in self.notices} - {"benign", "shutdown"})
        said = f"{len(self.decode)} decode and {len(self.prefill)} prefill lines"
        return said + (f"; {', '.join(kinds)}" if kinds else "")

    def as_earlier(self) -> EarlierRun:
        """Return what a later run is compared with."""
        steps: dict[int, list[float]] = {}
        for line in self.steady():
            if line.running and line.tok_s:
                took = line.running * (line.accept_len or 1.0) / line.tok_s * 1e3
                steps.setdefault(line.running, []).append(took)
        enough = {n: median(took) for n, took in steps.items() if len(took) >= _ENOUGH}
        return EarlierRun(
            version=self.version,
            resolved=self.resolved,
            steps_ms=enough,
            graph_addresses=self.graph_addresses,
        )

    def merged(self, other: ServerLog) -> ServerLog:
        """Return two parts of a log as one: a rotated part goes before the newer one.

        A newer part that begins with a start of its own is another run, and stands alone; two
        servers that ran at the same time are taken together.
        """
        older, newer = sorted((self, other), key=lambda log: log.last_line_at or "")
        apart = (older.last_line_at or "") <= (newer.first_line_at or "")
        if apart and newer.last_line_at and (newer.resolved or newer.started):
            return newer.model_copy(
                update={"runs": older.runs + newer.runs, "before": older.as_earlier()}
            )
        update: dict[str, Any] = {}
        for field in type(self).model_fields:
            old, new = getattr(older, field), getattr(newer, field)
            if isinstance(old, tuple):
                update[field] = old if old == new else old + new
            elif field in _SUMMED:
                update[field] = old + new
            else:
                update[field] = old if new is None else new
        update["runs"] = max(older.runs, newer.runs)
        update["first_line_at"] = older.first_line_at or newer.first_line_at
        return self.model_copy(update=update)


_ENOUGH = 3  # lines below which a median says nothing
_SUMMED = ("health_prefills", "lines", "cut_lines", "unexplained_count")
