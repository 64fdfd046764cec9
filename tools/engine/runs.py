"""Runs of a server before the last one in its log, each kept in a few figures and a course."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median
from typing import Literal

from tools.engine.launch import Value
from tools.engine.log_lines import Notice
from tools.engine.track import DecodeBlock, PrefillBlock
from tools.probe import Facts

MOST = 30  # runs that are kept before the last; a crash loop counts as one
ENOUGH = 3  # lines below which a median says nothing
Ended = Literal["", "shutdown", "crash", "oom", "watchdog", "nccl_error", "start_failed"]
_GRAVEST: tuple[Ended, ...] = ("oom", "nccl_error", "watchdog", "start_failed", "crash", "shutdown")
_ECHO = re.compile(r"(?i)received sigquit|kill_process_tree")  # a death told by the survivors
# Arguments that make no run faster or slower: addresses, names, chance, what is written where.
_IDLE = re.compile(
    r"(?:^|_)(?:host|ports?|addr|url|seed|metrics|timeout|dir|key|name)(?:$|_)|^log_|^show_|^watchdog"
    r"|warmup|crash_dump|trace"
)
_DIGITS = re.compile(r"\d+")
FULL = 40  # arguments of the shortest whole dump; a shorter text is an excerpt


class EarlierRun(Facts):
    """A run before the last: how it was made, how fast it was, how it ended.

    `ended` is "" where its last line is followed by another start and nothing tells why: killed
    from outside. `times` counts starts in a row that failed alike.
    """

    headed: bool = True  # its start is in the log
    version: str | None = None
    resolved: dict[str, Value] | None = None
    started: bool | None = None
    first_at: str | None = None
    last_at: str | None = None
    ended: Ended = ""
    end_text: str = ""
    times: int = 1
    steps_ms: dict[int, float] = {}  # requests running -> median decode step
    accept_len: float | None = None
    cache_hit: float | None = None  # share of prompt tokens found in the prefix cache
    prefill_tok_s: float | None = None
    queued: float | None = None  # median requests waiting
    graph_addresses: int | None = None
    decode: tuple[DecodeBlock, ...] = ()
    prefill: tuple[PrefillBlock, ...] = ()
    notices: tuple[Notice, ...] = ()  # its troubles, capped

    @property
    def served(self) -> bool:
        """Say whether requests were served in it."""
        return bool(self.decode or self.prefill or self.steps_ms)

    def continued(self, tail: EarlierRun) -> EarlierRun:
        """Return this run with its later part, which another file holds."""
        decode = (*self.decode, *tail.decode)
        return tail.model_copy(
            update={
                "headed": self.headed,
                "version": self.version or tail.version,
                "resolved": self.resolved or tail.resolved,
                "started": self.started or tail.started,
                "first_at": self.first_at or tail.first_at,
                "last_at": tail.last_at or self.last_at,
                "steps_ms": steps_of(decode) or self.steps_ms,
                "accept_len": tail.accept_len or self.accept_len,
                "cache_hit": self.cache_hit if tail.cache_hit is None else tail.cache_hit,
                "prefill_tok_s": tail.prefill_tok_s or self.prefill_tok_s,
                "graph_addresses": self.graph_addresses or tail.graph_addresses,
                "decode": decode,
                "prefill": (*self.prefill, *tail.prefill),
                "notices": (*self.notices, *tail.notices),
            }
        )


def steps_of(blocks: Sequence[DecodeBlock]) -> dict[int, float]:
    """Return the median step for each count of running requests that enough blocks show."""
    steps: dict[int, list[float]] = {}
    for block in blocks:
        steps.setdefault(block.running, []).extend([block.step_ms] * min(block.lines, ENOUGH))
    return {running: median(took) for running, took in steps.items() if len(took) >= ENOUGH}


def end_of(notices: Sequence[Notice]) -> tuple[Ended, str]:
    """Return how a run ended by its last words, and the words."""
    for kind in _GRAVEST:
        said = [notice.text for notice in notices if notice.kind == kind]
        if said:
            telling = [text for text in said if not _ECHO.search(text)] or said
            return kind, telling[-1]
    return "", ""


def folded(runs: Sequence[EarlierRun]) -> tuple[EarlierRun, ...]:
    """Return runs with failed starts in a row as one, and a tail of a file joined to its head."""
    kept: list[EarlierRun] = []
    for run in runs:
        last = kept[-1] if kept else None
        if last is not None and not run.headed and (run.served or not last.served):
            kept[-1] = last.continued(run)
        elif last is not None and alike(last, run):
            kept[-1] = run.model_copy(
                update={"times": last.times + run.times, "first_at": last.first_at or run.first_at}
            )
        else:
            kept.append(run)
    return tuple(kept[-MOST:])


def alike(one: EarlierRun, other: EarlierRun) -> bool:
    """Say whether two starts failed in the same way with the same arguments."""
    return (
        not (one.served or other.served)
        and one.ended == other.ended
        and _DIGITS.sub("0", one.end_text) == _DIGITS.sub("0", other.end_text)
        and not differences(one.resolved, other.resolved)
    )


def differences(
    before: dict[str, Value] | None, now: dict[str, Value] | None
) -> dict[str, tuple[Value, Value]]:
    """Return the arguments that both runs tell and that differ, with both values.

    A newer build has arguments that an older one lacks, which is no change that somebody made.
    """
    if not before or not now:
        return {}
    return {
        name: (before[name], now[name])
        for name in before
        if name in now and before[name] != now[name] and not _IDLE.search(name)
    }


def other_build(before: dict[str, Value] | None, now: dict[str, Value] | None) -> bool:
    """Say whether two dumps have arguments by other names, as two versions have."""
    if not before or not now or min(len(before), len(now)) < FULL:
        return False
    return before.keys() != now.keys()
