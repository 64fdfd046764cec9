"""What a serve log measured that the step model can be held against."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median

from tools.engine import DecodeLine, PrefillLine, ServerLog
from tools.errors import Undecided

_FEWEST = 3  # decode lines; fewer are an accident
_BIG_CHUNK = 2048  # prompt tokens; smaller prefills tell of latency, not of rate


@dataclass(frozen=True)
class Measured:
    """Steady decode at the fewest sequences that were seen often enough, as medians."""

    running: int
    tok_s: float
    accept_len: float | None
    context: float | None  # tokens of one sequence
    graph: bool  # some line says that a CUDA graph was used
    lines: int

    @staticmethod
    def of(log: ServerLog) -> Measured:
        """Measure decode in a log; raise Undecided where too few lines tell of it."""
        lines = _smallest_batch(log)
        running = lines[0].running or 1
        accepted = [line.accept_len for line in lines if line.accept_len]
        tokens = [line.tokens / running for line in lines if line.tokens]
        return Measured(
            running=running,
            tok_s=median(line.tok_s or 0.0 for line in lines),
            accept_len=median(accepted) if accepted else None,
            context=median(tokens) if tokens else None,
            graph=not all(line.graph is False for line in lines),
            lines=len(lines),
        )

    def over(self, ranks: int) -> Measured:
        """Return the whole server's decode, where these lines are of one of so many busy ranks."""
        return replace(self, running=self.running * ranks, tok_s=self.tok_s * ranks)


def dp_ranks(log: ServerLog) -> int:
    """Return how many data-parallel ranks decode, by the labels of the lines ("DP3 TP3"); 1 at least."""
    words = {word for line in log.steady() if line.running for word in line.rank.split()}
    return max(1, sum(word.startswith("DP") for word in words))


def cold_prefill_tok_s(log: ServerLog) -> float | None:
    """Return the median rate of large uncached chunks that follow another chunk without a gap."""
    rates = cold_prefill_rates(log)
    return median(rates) if rates else None


def cold_prefill_rates(log: ServerLog) -> list[float]:
    """Return the rate of each large uncached chunk that follows another chunk without a gap.

    Only then does `input throughput` mean anything: it is over the time since the previous
    prefill line. Lines that share the GPU with decoding are left out. Tokens per second.
    """
    return [
        line.tok_s
        for before, line in zip(log.prefill, log.prefill[1:], strict=False)
        if _cold(line) and before.pending and before.rank == line.rank and line.tok_s
    ]


def _smallest_batch(log: ServerLog) -> tuple[DecodeLine, ...]:
    steady = [line for line in log.steady() if line.running]
    first = min((line.rank for line in steady), default="")
    steady = [line for line in steady if line.rank == first]
    for count in sorted({line.running or 0 for line in steady}):
        lines = tuple(line for line in steady if line.running == count)
        if len(lines) >= _FEWEST:
            return lines
    raise Undecided("too few steady decode lines to measure a step")


def _cold(line: PrefillLine) -> bool:
    return (line.new_tokens or 0) >= _BIG_CHUNK and not line.cached_tokens and not line.running
