"""What else changed in a log when a series changed: starts, load, notices, pauses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Literal

from tools.engine.clock import clock_s
from tools.engine.history import Change, History
from tools.engine.log_lines import Notice, NoticeKind
from tools.engine.runs import EarlierRun, differences, other_build
from tools.engine.series import Point
from tools.engine.track import DecodeBlock, PrefillBlock

NEAR = 100  # points on either side in which the load is compared
OTHER = 1.3  # a load so many times as large is another one
SHARE = 0.2  # of lines in a graph, of prompt tokens in the cache
PAUSE_S, TIMES = 60, 5  # a pause: so long, and so many times the usual one
SLACK_S = 120  # between a cause and the first line that shows it
_TOLD: tuple[NoticeKind, ...] = (
    "retraction", "oom", "watchdog", "nccl_error", "graph_off", "custom_ar_off", "health",
)  # fmt: skip


@dataclass(frozen=True)
class Restart:
    """A start between two points: the run before, the one after, and failed starts between them."""

    before: EarlierRun
    now: EarlierRun
    failed: int

    @property
    def arguments(self) -> dict[str, tuple[object, object]]:
        """Return the arguments that differ, with the old and the new value."""
        return dict(differences(self.before.resolved, self.now.resolved))

    @property
    def builds(self) -> tuple[str, str] | None:
        """Return both versions, where they differ; empty texts where only the dumps tell of it."""
        old, new = self.before.version, self.now.version
        if old and new:
            return (old, new) if old != new else None
        return ("", "") if other_build(self.before.resolved, self.now.resolved) else None


@dataclass(frozen=True)
class Happened:
    """One thing that changed; `kind` "graph" is a load that left the CUDA graphs."""

    kind: Literal["load", "graph", "notice", "pause"]
    text: str


def restart_at(history: History, change: Change) -> Restart | None:
    """Return the start that lies where a series changed."""
    old, new = change.earliest.run, change.latest.run
    if old == new:
        return None
    # of several starts within the interval the one at the likeliest place counts
    best = (change.last.run, change.first.run)
    old, new = best if best[0] != best[1] else (max(old, new - 1), new)
    failed = sum(run.times for run in history.runs[old + 1 : new] if not run.served)
    return Restart(history.runs[old], history.runs[new], failed)


def happened(history: History, change: Change) -> tuple[Happened, ...]:
    """Return what else changed then, the most telling first."""
    return (
        *_graphs(change),
        *_notices(history, change),
        *_pauses(change),
        *_loads(history, change),
    )


def _decode(points: Sequence[Point]) -> list[DecodeBlock]:
    return [point.block for point in points if isinstance(point.block, DecodeBlock)]


def _graphs(change: Change) -> Iterator[Happened]:
    before, after = (
        [block.graph for block in _decode(points) if block.graph is not None]
        for points in (change.before[-NEAR:], change.after[:NEAR])
    )
    if not before or not after:
        return
    was, now = (sum(told) / len(told) for told in (before, after))
    if now < was - SHARE:
        yield Happened(
            "graph",
            f"decode ran in a CUDA graph in {was:.0%} of the lines before and in {now:.0%} after",
        )


def _notices(history: History, change: Change) -> Iterator[Happened]:
    low, high = clock_s(change.earliest.at), clock_s(change.latest.at)
    if low is None or high is None:
        return
    for notice in _said(history, change):
        at = clock_s(notice.at)
        if notice.kind in _TOLD and at is not None and low - SLACK_S <= at <= high:
            yield Happened("notice", f"at {clock_of(notice.at)} the log says: {notice.text[:160]}")
            return


def _said(history: History, change: Change) -> Iterator[Notice]:
    for run in history.runs[change.earliest.run : change.latest.run + 1]:
        yield from run.notices


def _pauses(change: Change) -> Iterator[Happened]:
    near = change.points[max(0, change.split.low - 1) : change.split.high + 1]
    waits = [
        wait
        for pair in pairwise((*change.before[-NEAR:], *change.after[:NEAR]))
        if (wait := _wait(*pair)) >= 0
    ]
    least = max(PAUSE_S, TIMES * median(waits or [0]))
    for was, now in pairwise(near):
        if was.run == now.run and _wait(was, now) >= least:
            yield Happened(
                "pause", f"from {clock_of(was.at)} to {clock_of(now.at)} no decode line was written"
            )
            return


def _wait(was: Point, now: Point) -> int:
    begin, end = clock_s(was.at), clock_s(now.at)
    return end - begin if begin is not None and end is not None else 0


def _loads(history: History, change: Change) -> Iterator[Happened]:
    sides = (_decode(change.before[-NEAR:]), _decode(change.after[:NEAR]))
    for name, of in _MEASURES:
        told = [[value for block in side if (value := of(block)) is not None] for side in sides]
        if told[0] and told[1]:
            yield from _other(name, median(told[0]), median(told[1]))
    prompts = [_prompt(batches) for batches in _prefill_beside(history, change)]
    if prompts[0] and prompts[1]:
        yield from _other("new tokens in a prefill batch", prompts[0], prompts[1])


_MEASURES: tuple[tuple[str, Callable[[DecodeBlock], float | None]], ...] = (
    ("requests at once", lambda block: block.running),
    ("tokens of context for each request", lambda block: block.context),
    ("prompt tokens read between two decode lines", lambda block: block.prompts),
)


def _other(name: str, was: float, now: float) -> Iterator[Happened]:
    low, high = sorted((was, now))
    if high >= 2 and high >= OTHER * max(low, 1e-9):
        yield Happened("load", f"{name}: {was:.0f} before, {now:.0f} after")


def _prompt(batches: Sequence[PrefillBlock]) -> float | None:
    return median(block.new_tokens / block.lines for block in batches) if batches else None


def _prefill_beside(
    history: History, change: Change
) -> tuple[list[PrefillBlock], list[PrefillBlock]]:
    """Return the prefill batches just before and just after, by their times."""
    middle = clock_s(change.first.at)
    near = history.runs[change.last.run].prefill, history.runs[change.first.run].prefill
    before = [b for b in near[0] if middle and (clock_s(b.at) or middle) < middle]
    after = [b for b in near[1] if middle and (clock_s(b.at) or 0) >= middle]
    return before[-NEAR:], after[:NEAR]


def clock_of(at: str | None) -> str:
    """Return the hour and the minute of a printed time."""
    return (at[11:16] if at and len(at) >= 16 else at[:5] if at else "") or "an unknown time"
