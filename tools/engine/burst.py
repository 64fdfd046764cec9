"""What a burst of our own load measured: decode by count of streams, one cold prompt, the machine meanwhile."""

from __future__ import annotations

from typing import ClassVar

from tools.probe import Facts


class BurstDecode(Facts):
    """Decode while `streams` requests of ours ran and nothing else did."""

    streams: int
    step_ms: float | None = None  # decode seconds per verify step; per token without speculation
    tok_s: float | None = None  # of all streams together
    accept_len: float | None = None  # as the engine counts it; None without speculation
    ttft_ms: float | None = None  # median, of prompts of some thirty tokens
    itl_ms: float | None = None  # median time between two tokens of one stream
    itl_p99_ms: float | None = None
    context: float | None = None  # tokens of one sequence, on average
    tokens: int = 0  # how many were counted


class BusyLink(Facts):
    """The PCIe link of one GPU while it was at work; what it showed most often."""

    gpu: str
    gen: int | None = None
    width: int | None = None
    gen_possible: int | None = None
    width_possible: int | None = None
    samples: int = 0


class Burst(Facts):
    """Seconds of bounded load that we made ourselves: it takes the workload out of the comparison."""

    keeps_apart: ClassVar[bool] = True

    version: str | None = None
    took_s: float | None = None
    stopped: str = ""  # why it ended early; what was measured until then holds
    decode: tuple[BurstDecode, ...] = ()
    prefill_tok_s: float | None = None  # one long prompt that no cache knew, as the client saw it
    prefill_tokens: int | None = None
    cold_ttft_ms: float | None = None
    again_tok_s: float | None = (
        None  # the same prompt a second time, by its tokens: with a cache, far more
    )
    graph: bool | None = None  # decode ran in CUDA graphs, by the server's own counter
    foreign_tokens: int = 0  # generated meanwhile for others
    links: tuple[BusyLink, ...] = ()
    unwatched: str = ""  # why no GPU was sampled
    replays: dict[str, int] = {}  # by GPU, during the burst
    port_errors: dict[
        str, int
    ] = {}  # PCIe errors of GPUs and ports above, by device, during the burst
    ports_counted: int = 0  # devices that count them
    busiest_core_pct: float | None = None  # mean of the busiest core
    server_pct: dict[str, float] = {}  # of one core, by process of the server
    throttled: int | None = None  # CPU quota periods in which the server's cgroup was held back
    throttled_ms: float | None = None

    def at(self, streams: int) -> BurstDecode | None:
        """Return the figures at one count of streams."""
        return next((one for one in self.decode if one.streams == streams), None)

    def merged(self, other: Burst) -> Burst:
        """Return the newer burst: figures of two states are not mixed."""
        return other if other.decode or other.prefill_tok_s else self
