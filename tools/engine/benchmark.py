"""What a benchmark of a server or of its links printed."""

from __future__ import annotations

from tools.probe import Facts


class Benchmark(Facts):
    """A serving benchmark's result, as the client saw it. Times in ms, rates in tokens per second."""

    tool: str | None = None
    concurrency: int | None = None  # the client's own limit
    prompts: int | None = None
    duration_s: float | None = None
    output_tok_s: float | None = None
    input_tok_s: float | None = None
    ttft_mean_ms: float | None = None
    ttft_p99_ms: float | None = None
    tpot_median_ms: float | None = None
    itl_median_ms: float | None = None
    itl_p99_ms: float | None = None
    accept_len: float | None = None
    cache_hit_rate: float | None = None
