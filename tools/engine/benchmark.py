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
    failed: int | None = None  # requests
    concurrency_mean: float | None = None  # requests in flight on average, as measured
    input_tokens: int | None = None
    output_tokens: int | None = None
    ttft_median_ms: float | None = None
    tpot_mean_ms: float | None = None
    itl_mean_ms: float | None = None
    itl_max_ms: float | None = None
    rates_tok_s: dict[str, float] = {}  # of a summary or table, by its own labels
    stream_triad_gb_s: float | None = None  # STREAM: memory bandwidth of the host's processors
    latency_mean_ms: float | None = None  # of a whole request, or of a whole batch
    rdma_gbit_s: float | None = None  # between two machines, by perftest
    tcp_gbit_s: float | None = None  # between two machines, by iperf3
    tcp_retransmits: int | None = None  # segments

    @property
    def rate(self) -> str:
        """Say its rate: that of what was generated, else the first by its own label."""
        if self.output_tok_s:
            return f"{self.output_tok_s:g} tok/s out"
        return next((f"{rate:g} tok/s {label}" for label, rate in self.rates_tok_s.items()), "")
