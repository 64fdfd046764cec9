"""The series of a log: steps, accept length, prefill rate, cache hits, queue; each with what it is compared to."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from math import log, log1p, log2
from statistics import median
from typing import Literal

from tools.engine.runs import EarlierRun
from tools.engine.track import SMALL_PROMPT, DecodeBlock, PrefillBlock, load_of

Metric = Literal["step", "accept", "prefill", "hits", "queue"]
BATCHES = 10  # prefill batches that make one share of cache hits


@dataclass(frozen=True)
class Point:
    """One value of a series: `value` is what is compared, `stratum` with what alike."""

    value: float
    stratum: Hashable
    at: str | None
    run: int
    block: DecodeBlock | PrefillBlock


@dataclass(frozen=True)
class Kind:
    """A series: which way is worse, and the least change that matters, in units of its values."""

    metric: Metric
    worse: int
    least: float
    points: Callable[[Sequence[EarlierRun]], list[Point]]


def _blocks(runs: Sequence[EarlierRun]) -> Iterator[tuple[int, DecodeBlock]]:
    for number, run in enumerate(runs):
        yield from ((number, block) for block in run.decode)


def _half_octave(tokens: float | None) -> int | None:
    return None if tokens is None else int(2 * log2(tokens + 1))


def _octave(tokens: int | None) -> int | None:
    return None if tokens is None else int(log2(tokens // SMALL_PROMPT + 1))


def _steps(runs: Sequence[EarlierRun]) -> list[Point]:
    return [
        Point(
            log(block.step_ms),
            (block.rank, load_of(block.running), _half_octave(block.context), _octave(block.prompts)),
            block.at,
            number,
            block,
        )
        for number, block in _blocks(runs)
        if block.step_ms > 0
    ]  # fmt: skip


def _accepted(runs: Sequence[EarlierRun]) -> list[Point]:
    return [
        Point(log(block.accept_len), block.rank, block.at, number, block)
        for number, block in _blocks(runs)
        if block.accept_len
    ]


def _queued(runs: Sequence[EarlierRun]) -> list[Point]:
    return [
        Point(log1p(block.queued), block.rank, block.at, number, block)
        for number, block in _blocks(runs)
        if block.queued is not None
    ]


def _prefilled(runs: Sequence[EarlierRun]) -> list[Point]:
    return [
        Point(log(block.tok_s), (block.rank, block.size), block.at, number, block)
        for number, run in enumerate(runs)
        for block in run.prefill
        if block.tok_s
    ]


def _hits(runs: Sequence[EarlierRun]) -> list[Point]:
    """Take batches together: one prompt is either in the cache or not."""
    points: list[Point] = []
    for number, run in enumerate(runs):
        groups: dict[str, list[PrefillBlock]] = {}
        for block in run.prefill:
            group = groups.setdefault(block.rank, [])
            group.append(block)
            if sum(one.lines for one in group) >= BATCHES:
                cached = sum(one.cached_tokens for one in group)
                told = cached + sum(one.new_tokens for one in group)
                points.append(
                    Point(cached / max(1, told), block.rank, group[0].at, number, group[0])
                )
                groups[block.rank] = []
    return points


KINDS = (
    Kind("step", 1, log(1.08), _steps),
    Kind("accept", -1, log(1.10), _accepted),
    Kind("prefill", -1, log(1.15), _prefilled),
    Kind("hits", -1, 0.15, _hits),
    Kind("queue", 1, log(3), _queued),
)


def rate(points: Sequence[Point]) -> tuple[int, float] | None:
    """Return the count of requests that most of these decode points show, and the rate there."""
    blocks = [p.block for p in points if isinstance(p.block, DecodeBlock)]
    if not blocks:
        return None
    counts = [block.running for block in blocks]
    usual = max(set(counts), key=lambda running: (counts.count(running), -running))
    return usual, median(block.tok_s for block in blocks if block.running == usual)
