"""Traffic of a serve log as numbers: steps in milliseconds, busy stretches, stalls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from statistics import median

from tools.engine.log import DecodeLine, PrefillLine, ServerLog
from tools.probe import Facts

SLOWEST_TOK_S = 500.0  # no card reads a prompt slower than this where it serves at all
ENOUGH = 3  # lines below which a median says nothing


class Stall(Facts):
    """A stretch in which prefill ran and requests that were decoding got nothing."""

    start: str
    seconds: float
    waiting: int  # requests that were decoding
    new_tokens: int
    batches: int


class Traffic:
    """What a log says of the load: its steady decode lines and its prefill batches."""

    def __init__(self, log: ServerLog) -> None:
        self._log = log

    @cached_property
    def decode(self) -> tuple[DecodeLine, ...]:
        """Return the lines in which requests were decoded."""
        return tuple(line for line in self._log.decode if (line.running or 0) > 0)

    @cached_property
    def steady(self) -> tuple[DecodeLine, ...]:
        """Return those of them whose rate means something."""
        return tuple(line for line in self._log.steady() if (line.running or 0) > 0)

    @cached_property
    def prefill(self) -> tuple[PrefillLine, ...]:
        """Return the batches that read more than one token."""
        return tuple(line for line in self._log.prefill if (line.new_tokens or 0) > 1)

    @cached_property
    def ranks(self) -> frozenset[str]:
        """Return the ranks that decoded."""
        return frozenset(line.rank for line in self._log.decode)

    @property
    def most_running(self) -> int:
        """Return the most requests that were decoded together on one rank."""
        return max((line.running or 0 for line in self.decode), default=0)

    @property
    def usual_running(self) -> int:
        """Return the count of running requests that most lines show."""
        counts = Counter(line.running or 0 for line in self.decode)
        return max(counts, key=lambda n: (counts[n], n)) if counts else 0

    @property
    def queued_pct(self) -> float:
        """Return in how many percent of the decode lines requests wait."""
        told = [line for line in self.decode if line.queued is not None]
        return 100.0 * sum(1 for line in told if line.queued) / len(told) if told else 0.0

    def at(self, running: int) -> tuple[DecodeLine, ...]:
        """Return the steady lines with that many requests."""
        return tuple(line for line in self.steady if line.running == running)

    def step(self, running: int | None = None) -> float | None:
        """Return the median decode step in ms at the usual number of requests, or another."""
        lines = self.at(self.usual_running if running is None else running)
        steps = [ms for line in lines if (ms := step_ms(line)) is not None]
        return median(steps) if len(steps) >= ENOUGH else None

    @property
    def accept_len(self) -> float | None:
        """Return the median accept length; None without speculation or with too few lines."""
        told = [
            line.accept_len for line in self.steady or self.decode if line.accept_len is not None
        ]
        return median(told) if len(told) >= ENOUGH else None

    def stalls(self, least_s: float) -> tuple[Stall, ...]:
        """Return stretches of at least some seconds in which prefill held back running requests."""
        lines: list[DecodeLine | PrefillLine] = [*self.decode, *self.prefill]
        stamped = [(at, line) for line in lines if (at := seconds(line.at)) is not None]
        stamped.sort(key=lambda pair: pair[0])
        found: list[Stall] = []
        for rank in sorted({line.rank for line in lines}):
            found += _stalls([pair for pair in stamped if pair[1].rank == rank], least_s)
        return tuple(found)


def step_ms(line: DecodeLine) -> float | None:
    """Return how long one decode step took by a line: requests x accept length / rate."""
    if not line.tok_s or not line.running:
        return None
    return line.running * (line.accept_len or 1.0) / line.tok_s * 1e3


def seconds(at: str | None) -> float | None:
    """Return a printed time as seconds, for differences only."""
    if not at:
        return None
    try:
        return datetime.fromisoformat(at).replace(tzinfo=None).timestamp()
    except ValueError:
        return None


def _stalls(lines: list[tuple[float, DecodeLine | PrefillLine]], least_s: float) -> list[Stall]:
    found: list[Stall] = []
    since: float | None = None
    held: list[PrefillLine] = []
    for at, line in lines:
        if isinstance(line, PrefillLine):
            if line.running:
                held.append(line)
            continue
        if since is not None and held and (took := _took_s(since, at, held)) >= least_s:
            found.append(_stall(took, held))
        since, held = at, []
    return found


def _took_s(since: float, until: float, held: list[PrefillLine]) -> float:
    """Return how much of the time between two Decode lines prefill took; the rest may be idle."""
    rates = [line.tok_s for line in held if line.tok_s]
    tokens = sum(line.new_tokens or 0 for line in held)
    if rates:
        return min(until - since, tokens / median(rates))
    return min(until - max(since, seconds(held[0].at) or since), tokens / SLOWEST_TOK_S)


def _stall(took_s: float, held: list[PrefillLine]) -> Stall:
    return Stall(
        start=held[0].at or "",
        seconds=took_s,
        waiting=max(line.running or 0 for line in held),
        new_tokens=sum(line.new_tokens or 0 for line in held),
        batches=len(held),
    )


def largest_graph(log: ServerLog) -> int | None:
    """Return the largest batch that the target's decode graphs were captured for."""
    sizes = [s for one in log.captures if one.what in ("decode", "verify") for s in one.sizes]
    return max(sizes, default=None)


def quoted(lines: Sequence[DecodeLine]) -> tuple[str, ...]:
    """Return lines as a person finds them in the log, shortened to what matters."""
    return tuple(_quoted(line) for line in lines)


def _quoted(line: DecodeLine) -> str:
    if line.prompt_tok_s is not None:
        return _quoted_vllm(line)
    parts = [f"#running-req: {line.running}"]
    if line.accept_len is not None:
        parts.append(f"accept len: {line.accept_len:.2f}")
    if line.graph is not None:
        parts.append(f"cuda graph: {line.graph}")
    if line.tok_s is not None:
        parts.append(f"gen throughput (token/s): {line.tok_s:.2f}")
    if line.queued is not None:
        parts.append(f"#queue-req: {line.queued}")
    stamp = " ".join(part for part in (line.at, line.rank) if part)
    return (f"[{stamp}] " if stamp else "") + "Decode batch, " + ", ".join(parts)


def _quoted_vllm(line: DecodeLine) -> str:
    parts = [f"Avg generation throughput: {line.tok_s} tokens/s"] if line.tok_s is not None else []
    parts += [f"Running: {line.running} reqs"] if line.running is not None else []
    parts += [f"Waiting: {line.queued} reqs"] if line.queued is not None else []
    stamp = " ".join(part for part in (line.at, line.rank) if part)
    return (f"{stamp} " if stamp else "") + ", ".join(parts)
