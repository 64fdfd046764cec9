"""A serve log, read: traffic, start-up, and what the engine complains of."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import merge
from itertools import pairwise
from statistics import median
from typing import Any

from tools.engine.clock import clock_s
from tools.engine.launch import EngineName, Value
from tools.engine.log_lines import Capture, DecodeLine, Notice, NoticeKind, PrefillLine
from tools.engine.runs import EarlierRun, end_of, folded, steps_of
from tools.engine.track import decode_blocks, prefill_blocks
from tools.probe import Facts

__all__ = [
    "Capture",
    "DecodeLine",
    "EarlierRun",
    "Notice",
    "NoticeKind",
    "PrefillLine",
    "ServerLog",
]


class ServerLog(Facts):
    """A serve log, read: the last run in it, with the start-up of that run.

    `resolved` are the arguments of the `server_args` dump, allow-listed; None if the log holds
    none. `unexplained` are lines that no form matches, capped; `unexplained_count` counts all.
    `earlier` are the runs before it, oldest first; `served` is the newest of them that served, whole,
    where the last run never became ready. `servers` counts those that wrote at the same time.
    """

    engine: EngineName | None = None
    version: str | None = None
    runs: int = 1
    resolved: dict[str, Value] | None = None
    decode: tuple[DecodeLine, ...] = ()
    prefill: tuple[PrefillLine, ...] = ()
    captures: tuple[Capture, ...] = ()
    notices: tuple[Notice, ...] = ()
    started: bool | None = None  # the ready line was seen
    max_total_tokens: int | None = None
    max_running: int | None = None
    chunked_prefill: int | None = None
    context_len: int | None = None
    model_type: str | None = None
    quant: str | None = None
    weights_gb: float | None = None  # of one rank
    load_s: float | None = None  # what reading the weights took
    kv_gb: float | None = None
    mamba_slots: int | None = None
    graph_addresses: int | None = None  # registered: the custom all-reduce works
    servers: int = 1
    earlier: tuple[EarlierRun, ...] = ()
    served: ServerLog | None = None
    first_line_at: str | None = None  # of the run
    ready_at: str | None = None  # the ready line
    last_request_at: str | None = None
    last_line_at: str | None = None
    health_prefills: int = 0  # one-token prefills of /health, not counted as traffic
    lines: int = 0
    cut_lines: int = 0  # not shown to us by the filter on the host
    unexplained: tuple[str, ...] = ()
    unexplained_count: int = 0

    def said(self, *kinds: NoticeKind) -> tuple[Notice, ...]:
        """Return the notices of some kinds."""
        return tuple(notice for notice in self.notices if notice.kind in kinds)

    def steady(self) -> tuple[DecodeLine, ...]:
        """Return the decode lines whose rate means something: not the first after a gap."""
        return tuple(line for line in self.decode if not line.after_gap and line.tok_s)

    def brief(self) -> str:
        """Say how much traffic was seen and what stands out."""
        kinds = sorted({notice.kind for notice in self.notices} - {"benign", "shutdown"})
        said = f"{len(self.decode)} decode and {len(self.prefill)} prefill lines"
        return said + (f"; {', '.join(kinds)}" if kinds else "")

    @property
    def before(self) -> EarlierRun | None:
        """Return the newest run before this one that served requests."""
        return next((run for run in reversed(self.earlier) if run.served), None)

    @property
    def unready(self) -> bool:
        """Say whether this run never became ready, as far as the log shows."""
        return not (self.started or self.decode or self.prefill or self.health_prefills)

    @property
    def start_s(self) -> float | None:
        """Return how long the start took, from its first line to the ready line; None where the log lacks one."""
        began, ready = clock_s(self.first_line_at), clock_s(self.ready_at)
        if not self.resolved or began is None or ready is None or ready <= began:
            return None  # without the arguments the beginning of the start is not in it
        return ready - began

    def after(self, runs: Sequence[EarlierRun], served: ServerLog | None) -> ServerLog:
        """Return this run with those before it, oldest first, and the newest that served, whole."""
        return self.model_copy(
            update={
                "earlier": folded(runs),
                "served": served if self.unready and served and not served.unready else None,
            }
        )

    def as_earlier(self) -> EarlierRun:
        """Return what is kept of this run when another one follows it."""
        decode, prefill = decode_blocks(self.decode, self.prefill), prefill_blocks(self.prefill)
        ended, text = end_of(self.notices)
        cached = sum(block.cached_tokens for block in prefill)
        read = sum(block.new_tokens for block in prefill)
        return EarlierRun(
            headed=self.starts,
            version=self.version,
            resolved=self.resolved,
            started=self.started,
            first_at=self.first_line_at,
            last_at=self.last_line_at,
            ended=ended,
            end_text=text,
            steps_ms=steps_of(decode),
            accept_len=_median([one.accept_len for one in decode]),
            cache_hit=cached / (cached + read) if cached + read else None,
            prefill_tok_s=_median([one.tok_s for one in prefill]),
            queued=_median([one.queued for one in decode]),
            graph_addresses=self.graph_addresses,
            decode=decode,
            prefill=prefill,
            notices=self.said(*_TROUBLES)[:_NOTICES],
        )

    def merged(self, other: ServerLog) -> ServerLog:
        """Return two parts of a log as one: a rotated part goes before the newer one.

        A newer part that begins with a start of its own is another run, and stands alone; two
        servers that ran at the same time are taken together.
        """
        older, newer = sorted((self, other), key=lambda log: log.last_line_at or "")
        apart = (older.last_line_at or "") <= (newer.first_line_at or "")
        if not (apart and newer.last_line_at and (newer.starts or newer.earlier)):
            return older._joined(newer, apart=apart)
        runs = [*older.earlier, older.as_earlier(), *newer.earlier]
        if all(run.first_at for run in runs):
            runs.sort(key=lambda run: run.first_at or "")
        served = newer.served or (older.served if older.unready else older)
        parts = sum(1 for run in runs[1:] if not run.headed)
        both = newer.after(runs, served)
        return both.model_copy(update={"runs": older.runs + newer.runs - parts})

    @property
    def starts(self) -> bool:
        """Say whether the log shows how this run was started."""
        return bool(self.resolved or self.started)

    def _joined(self, newer: ServerLog, *, apart: bool) -> ServerLog:
        """Return both as one run."""
        update: dict[str, Any] = {}
        for field in type(self).model_fields:
            old, new = getattr(self, field), getattr(newer, field)
            if isinstance(old, tuple):
                update[field] = old if old == new else old + new
            elif field in _SUMMED:
                update[field] = old + new
            else:
                update[field] = old if new is None else new
        update["runs"] = max(self.runs, newer.runs)
        update["first_line_at"] = self.first_line_at or newer.first_line_at
        known = {(run.first_at, run.last_at): run for run in (*self.earlier, *newer.earlier)}
        update["earlier"] = folded(sorted(known.values(), key=lambda run: run.first_at or ""))
        if not apart:
            update |= self._at_the_same_time(newer)
        return self.model_copy(update=update)

    def _at_the_same_time(self, other: ServerLog) -> dict[str, Any]:
        """Return the traffic of two texts that cover the same time, in the order of time.

        One text can hold a part of the other, or fill a hole in it; where neither is so and both
        tell of the same rank, two servers wrote them.
        """
        mine, others = set(self.decode), set(other.decode)
        if mine >= others or others >= mine:
            longer = self if len(mine) >= len(others) else other
            return {"decode": longer.decode, "prefill": longer.prefill}
        update: dict[str, Any] = {"servers": max(self.servers, other.servers)}
        if _mingled(self.decode, other.decode):
            update["servers"] = self.servers + other.servers
        for field in ("decode", "prefill"):
            update[field] = tuple(merge(getattr(self, field), getattr(other, field), key=_when))
        return update


def _mingled(one: Sequence[DecodeLine], other: Sequence[DecodeLine]) -> bool:
    """Say whether lines of one rank alternate between two texts."""
    for rank in {line.rank for line in one} & {line.rank for line in other}:
        tagged = sorted(
            (_when(line), text)
            for text, lines in enumerate((one, other))
            for line in lines
            if line.rank == rank
        )
        if sum(a[1] != b[1] for a, b in pairwise(tagged)) > _TURNS:
            return True
    return False


def _when(line: DecodeLine | PrefillLine) -> int:
    return clock_s(line.at) or 0


def _median(told: Sequence[float | None]) -> float | None:
    known = [one for one in told if one is not None]
    return median(known) if known else None


_SUMMED = ("health_prefills", "lines", "cut_lines", "unexplained_count")
_TROUBLES: tuple[NoticeKind, ...] = (
    "retraction", "oom", "watchdog", "crash", "start_failed", "health", "shutdown", "nccl_error",
    "graph_off", "custom_ar_off",
)  # fmt: skip
_NOTICES = 40
_TURNS = 3  # of files that lie between each other; of servers at the same time there are many
