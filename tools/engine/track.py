"""The course of a run in a few hundred blocks: what is kept of lines to find when it got slower."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import log2
from statistics import median
from typing import TypeVar

from tools.engine.clock import clock_s
from tools.engine.log_lines import DecodeLine, PrefillLine
from tools.probe import Facts

EXACT = 1500  # lines up to which each is a block of its own
WINDOWS = 150  # into which more lines are cut; in each window lines of one load make a block
MOST = 4000  # blocks that are kept of one run
SMALL_PROMPT = 256  # tokens; smaller prefills tell of latency, not of rate


class DecodeBlock(Facts):
    """Decode lines of one rank under one load, as medians; `first` is the line that begins it."""

    at: str | None = None
    first: int = 0
    rank: str = ""
    running: int = 1
    context: float | None = None  # tokens in the cache for each request
    prompts: int | None = None  # prompt tokens read between two decode lines
    step_ms: float
    tok_s: float
    accept_len: float | None = None
    queued: float | None = None
    graph: bool | None = None
    lines: int = 1


class PrefillBlock(Facts):
    """Prefill lines of one rank and one size, `size` being the binary logarithm of their tokens."""

    at: str | None = None
    first: int = 0
    rank: str = ""
    size: int = 0
    tok_s: float | None = (
        None  # of batches right after another one, whose rate alone means something
    )
    new_tokens: int = 0
    cached_tokens: int = 0
    lines: int = 1


_Line = TypeVar("_Line", bound=DecodeLine | PrefillLine)


def load_of(running: int) -> int:
    """Return the class of a batch size: each count up to eight, then steps of an eighth."""
    return running if running <= 8 else 8 + int(6 * log2(running / 8))


def decode_blocks(
    lines: Sequence[DecodeLine], prefill: Sequence[PrefillLine]
) -> tuple[DecodeBlock, ...]:
    """Return the steady lines as blocks, in the order of the log."""
    read = _prompts(lines, prefill)
    told = enumerate(lines)
    kept = [(at, one) for at, one in told if one.running and one.tok_s and not one.after_gap]

    def load(number: int, line: DecodeLine) -> tuple[object, ...]:
        context = (line.tokens or 0) / (line.running or 1)
        prompts = read[number]
        return (
            line.rank, load_of(line.running or 1), line.graph, int(2 * log2(context + 1)),
            prompts if prompts is None else int(log2(prompts // SMALL_PROMPT + 1)),
        )  # fmt: skip

    groups = _grouped(kept, len(lines), load)
    return _thinned([_decode(group, read) for group in groups])


def prefill_blocks(lines: Sequence[PrefillLine]) -> tuple[PrefillBlock, ...]:
    """Return prefill batches as blocks, in the order of the log."""
    kept = [(number, line) for number, line in enumerate(lines) if (line.new_tokens or 0) > 1]
    follows = _follows(lines)

    def size(_: int, line: PrefillLine) -> tuple[object, ...]:
        return line.rank, _size(line)

    return _thinned([_prefill(group, follows) for group in _grouped(kept, len(lines), size)])


def _grouped(
    kept: list[tuple[int, _Line]], total: int, load: Callable[[int, _Line], tuple[object, ...]]
) -> Iterable[list[tuple[int, _Line]]]:
    if len(kept) <= EXACT:
        return ([pair] for pair in kept)
    groups: dict[tuple[object, ...], list[tuple[int, _Line]]] = {}
    for number, line in kept:
        window = number * WINDOWS // total
        groups.setdefault((window, *load(number, line)), []).append((number, line))
    return groups.values()


_Block = TypeVar("_Block", bound=DecodeBlock | PrefillBlock)


def _thinned(blocks: list[_Block]) -> tuple[_Block, ...]:
    blocks.sort(key=lambda block: block.first)
    return tuple(blocks[:: -(-len(blocks) // MOST) or 1])


def _decode(group: list[tuple[int, DecodeLine]], prompts: Sequence[int | None]) -> DecodeBlock:
    middle, line = group[len(group) // 2]
    lines = [one for _, one in group]
    accepted = [one.accept_len for one in lines if one.accept_len]
    queued = [one.queued for one in lines if one.queued is not None]
    tokens = [one.tokens / (one.running or 1) for one in lines if one.tokens]
    read = [one for number, _ in group if (one := prompts[number]) is not None]
    return DecodeBlock.model_construct(
        at=line.at,
        first=middle,
        rank=line.rank,
        running=line.running or 1,
        context=median(tokens) if tokens else None,
        prompts=int(median(read)) if read else None,
        step_ms=median(
            (one.running or 1) * (one.accept_len or 1.0) / (one.tok_s or 1.0) * 1e3 for one in lines
        ),
        tok_s=median(one.tok_s or 0.0 for one in lines),
        accept_len=median(accepted) if accepted else None,
        queued=median(queued) if queued else None,
        graph=line.graph,
        lines=len(lines),
    )


def _prefill(group: list[tuple[int, PrefillLine]], follows: Sequence[bool]) -> PrefillBlock:
    middle, line = group[len(group) // 2]
    rates = [one.tok_s for number, one in group if one.tok_s and follows[number]]
    return PrefillBlock.model_construct(
        at=line.at,
        first=middle,
        rank=line.rank,
        size=_size(line),
        tok_s=median(rates) if rates else None,
        new_tokens=sum(one.new_tokens or 0 for _, one in group),
        cached_tokens=sum(one.cached_tokens or 0 for _, one in group),
        lines=len(group),
    )


def _size(line: PrefillLine) -> int:
    return int(log2(line.new_tokens or 1))


def _follows(lines: Sequence[PrefillLine]) -> list[bool]:
    """Say of each batch whether another one of its rank was under way until it began."""
    pending: dict[str, int] = {}
    found = []
    for line in lines:
        enough = (line.new_tokens or 0) >= SMALL_PROMPT and not line.running
        found.append(enough and bool(pending.get(line.rank)))
        pending[line.rank] = line.pending or 0
    return found


def _prompts(lines: Sequence[DecodeLine], prefill: Sequence[PrefillLine]) -> list[int | None]:
    """Return how many prompt tokens were read on its rank between a decode line and the last one."""
    waiting: dict[str, list[tuple[int, int]]] = {}
    for batch in prefill:
        at = clock_s(batch.at)
        if at is not None:
            waiting.setdefault(batch.rank, []).append((at, batch.new_tokens or 0))
    place = dict.fromkeys(waiting, 0)
    found: list[int | None] = []
    for line in lines:
        until, batches = clock_s(line.at), waiting.get(line.rank, [])
        if until is None:
            found.append(None)
            continue
        at, read = place.get(line.rank, 0), 0
        while at < len(batches) and batches[at][0] <= until:
            read += batches[at][1]
            at += 1
        place[line.rank] = at
        found.append(read)
    return found
