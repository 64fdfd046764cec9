"""What the server's own counters prove: passes in a graph, requests taken back, a full cache."""

from __future__ import annotations

from tools.engine import Arguments, Launch, Metrics, ServerInfo, ServerLog
from tools.errors import Undecided
from tools.rule import Cleared, Effect, Finding, Outcome, rule

WITH = "cuda_graph_passes_total{mode=decode_cuda_graph}"
WITHOUT = "cuda_graph_passes_total{mode=decode_none}"
PASSES, SINCE_START = 20.0, 1000.0  # decode passes that are no warm-up
MOST = 0.95
RETRACTED = ("num_retracted_requests_total", "num_preemptions_total")  # SGLang, vLLM
USAGE = ("token_usage", "kv_cache_usage_perc", "gpu_cache_usage_perc")
QUEUE = ("num_queue_reqs", "num_requests_waiting")
TWICE = "read /metrics twice under load, ten seconds apart"


@rule(cause="cuda_graph_disabled")
def passes_without_a_graph(
    metrics: Metrics, launch: Launch | None, info: ServerInfo | None, log: ServerLog | None
) -> Outcome:
    """The server's counters show decode passes outside CUDA graphs alone."""
    if Arguments(launch, info, log).text("device") == "cpu":
        return Cleared("the server runs on the CPU, where there are no CUDA graphs")
    counted, least, when = metrics.deltas, PASSES, metrics.when
    if counted.get(WITH, 0.0) + counted.get(WITHOUT, 0.0) < least:
        counted, least, when = metrics.totals, SINCE_START, "since the server started"
    inside, outside = counted.get(WITH, 0.0), counted.get(WITHOUT, 0.0)
    if inside + outside < least:
        raise Undecided("too few decode passes were counted", settle=TWICE, suspicion=0.02)
    if outside < MOST * (inside + outside):
        return Cleared(
            f"{inside:.0f} of {inside + outside:.0f} decode passes ran in a graph {when}"
        )
    return Finding(
        f"{outside:.0f} of {inside + outside:.0f} decode passes {when} ran outside a CUDA graph.",
        confidence=0.9,
        slows=frozenset({"decode", "throughput"}),
        effect=Effect(decode_pct=(-85.0, -55.0, -35.0), source="as without graphs; coarse"),
        category="config",
        verify=f"{WITH} grows under load",
        quotes=(f"{WITHOUT} {outside:.0f}", f"{WITH} {inside:.0f}"),
    )


@rule(cause="kv_pool_small")
def requests_taken_back(metrics: Metrics) -> Outcome:
    """The server's counters show requests that were taken back, or a queue before a full cache."""
    taken = max((metrics.deltas.get(name, 0.0) for name in RETRACTED), default=0.0)
    usage = max((metrics.gauges.get(name, 0.0) for name in USAGE), default=0.0)
    queued = max((metrics.gauges.get(name, 0.0) for name in QUEUE), default=0.0)
    full = usage >= MOST and queued > 0
    if not taken and not full:
        if metrics.window_s is None and not metrics.deltas:
            raise Undecided(f"one reading only, at {usage:.0%}", settle=TWICE, suspicion=0.02)
        return Cleared(f"nothing was taken back {metrics.when}, at {usage:.0%}")
    what = f"{taken:.0f} requests were taken back {metrics.when}" if taken else ""
    rest = f"{queued:.0f} requests wait and the KV cache is {usage:.0%} full" if full else ""
    return Finding(
        f"{'; '.join(part for part in (what, rest) if part)}.",
        confidence=0.88 if taken else 0.75,
        slows=frozenset({"throughput", "ttft", "tail"}),
        effect=Effect(decode_pct=(-50.0, -20.0, -5.0), source="own estimate: the aggregate alone"),
        quotes=(f"token_usage {usage:g}", f"num_queue_reqs {queued:g}"),
    )


RULES = (passes_without_a_graph, requests_taken_back)
