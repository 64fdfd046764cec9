"""Decode as a log measured it at one number of running requests: rate, accept length, step, context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from tools.comparison.rate import spread
from tools.engine import DecodeLine, ServerLog
from tools.engine.traffic import ENOUGH, step_ms
from tools.physics.interval import Interval

_BLOCK = 10  # lines of one busy stretch that count as one sample: prompts change within a long one


@dataclass(frozen=True)
class Decode:
    """`tok_s` is the server's rate at `running` requests; `context` are tokens of one of them."""

    running: int
    lines: int
    tok_s: Interval
    step_ms: Interval
    accept_len: Interval | None
    context: float | None
    graph: bool


def decodes(log: ServerLog | None) -> dict[int, Decode]:
    """Return what was measured at each number of requests that enough steady lines show."""
    if log is None:
        return {}
    first = min((line.rank for line in log.decode), default="")
    blocks = _blocks([line for line in log.decode if line.rank == first])
    counts = Counter(line.running or 0 for block in blocks for line in block)
    enough = sorted(running for running, lines in counts.items() if running and lines >= ENOUGH)
    return {running: _at(running, blocks) for running in enough}


def _at(running: int, blocks: Sequence[Sequence[DecodeLine]]) -> Decode:
    mine = [block for block in blocks if block[0].running == running]
    lines = [line for block in mine for line in block]
    rates = spread([[line.tok_s or 0.0 for line in block] for block in mine])
    steps = spread([[step_ms(line) or 0.0 for line in block] for block in mine])
    accepted = spread([[line.accept_len for line in block if line.accept_len] for block in mine])
    contexts = [line.tokens / running for line in lines if line.tokens]
    if rates is None or steps is None:
        raise ValueError(f"no line tells of {running} running requests")
    return Decode(
        running=running,
        lines=len(lines),
        tok_s=rates,
        step_ms=steps,
        accept_len=accepted,
        context=median(contexts) if contexts else None,
        graph=not all(line.graph is False for line in lines),
    )


def _blocks(lines: Sequence[DecodeLine]) -> list[list[DecodeLine]]:
    """Return the steady lines, cut where prefill or a pause came between, the load changed, or a block is full."""
    blocks: list[list[DecodeLine]] = []
    begun = True
    for line in lines:
        if line.after_gap or not line.tok_s or not line.running:
            begun = True
            continue
        last = blocks[-1] if blocks else []
        if begun or len(last) >= _BLOCK or last[0].running != line.running:
            blocks.append([])
        blocks[-1].append(line)
        begun = False
    return blocks
