"""What the step model is held against: figures of our own load where there are any, else those of the log."""

from __future__ import annotations

from tools.engine import Burst, BurstDecode, ServerLog
from tools.errors import Undecided
from tools.physics.measured import Measured, cold_prefill_tok_s

_PROMPT_TOKENS = 2048  # a shorter cold prompt tells of latency, not of rate


def measured(log: ServerLog | None, burst: Burst | None) -> Measured:
    """Return decode at the fewest streams; raise Undecided where neither tells it.

    A burst comes first: what ran is known, and nothing else ran.
    """
    if burst is not None and (one := _fewest(burst)):
        return Measured(
            running=one.streams,
            tok_s=one.tok_s or 0.0,
            accept_len=one.accept_len,
            context=one.context,
            graph=burst.graph is not False,
            lines=one.tokens,
        )
    if log is None:
        raise Undecided("no serve log was read")
    return Measured.of(log)


def prefill_tok_s(log: ServerLog | None, burst: Burst | None) -> float | None:
    """Return the rate at which a long cold prompt is read, tokens per second."""
    if burst is not None and (burst.prefill_tokens or 0) >= _PROMPT_TOKENS:
        return burst.prefill_tok_s
    return cold_prefill_tok_s(log) if log else None


def _fewest(burst: Burst) -> BurstDecode | None:
    told = [one for one in burst.decode if one.tok_s]
    return min(told, key=lambda one: one.streams) if told else None
