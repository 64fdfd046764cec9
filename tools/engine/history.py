"""A log as a history: its series over all runs in it, and where one of them got worse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import exp

from tools.engine.change_point import Split, changes, shift_between
from tools.engine.log import ServerLog
from tools.engine.runs import EarlierRun
from tools.engine.series import KINDS, Kind, Metric, Point

LASTS = 0.6  # share of a change that must be left at the end of the log


@dataclass(frozen=True)
class Change:
    """One change for the worse. `until` is the first point after it was over; None while it lasts."""

    kind: Kind
    split: Split
    points: tuple[Point, ...]
    begin: int  # the points that are compared: before from here, after up to `end`
    end: int
    rank: str = ""  # the one rank that changed, of several
    until: Point | None = None

    @property
    def first(self) -> Point:
        """Return the first point after it."""
        return self.points[self.split.before]

    @property
    def last(self) -> Point:
        """Return the last point before it."""
        return self.points[self.split.before - 1]

    @property
    def earliest(self) -> Point:
        """Return the last point that surely lies before it."""
        return self.points[max(0, self.split.low - 1)]

    @property
    def latest(self) -> Point:
        """Return the first point that surely lies after it."""
        return self.points[min(self.split.high, len(self.points) - 1)]

    @property
    def before(self) -> tuple[Point, ...]:
        """Return the points before it, from the change before that."""
        return self.points[self.begin : self.split.before]

    @property
    def after(self) -> tuple[Point, ...]:
        """Return the points after it, up to the next change."""
        return self.points[self.split.before : self.end]

    @property
    def pct(self) -> tuple[float, float, float]:
        """Return by how many percent it changed: low, middle, high; of a share, points of percent."""
        bounds = (self.split.shift_low, self.split.shift, self.split.shift_high)
        low, middle, high = (
            100 * (bound if self.kind.metric == "hits" else exp(bound) - 1) for bound in bounds
        )
        return low, middle, high


class _Itself:
    """A log as a key: facts are equal by all that is in them, which takes longer than to read them."""

    def __init__(self, log: ServerLog) -> None:
        self.log = log

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and other.log is self.log

    def __hash__(self) -> int:
        return id(self.log)


@lru_cache(maxsize=1)
def _kept(key: _Itself) -> History:
    return History(key.log)


class History:
    """All runs of a log in a row, oldest first, and what got worse in them."""

    @staticmethod
    def of_log(log: ServerLog) -> History:
        """Return the history of a log; several rules that ask for one share it."""
        return _kept(_Itself(log))

    def __init__(self, log: ServerLog) -> None:
        self.runs = _of_one_model((*log.earlier, log.as_earlier()))
        self.servers = log.servers
        self._coarse = _COARSE.get(log.engine or "", 1.0)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Return what changed for the worse: lasting changes first, the largest first."""
        kinds = [replace(kind, least=kind.least * self._coarse) for kind in KINDS]
        found = [one for kind in kinds for one in self._of(kind)]
        found.sort(key=lambda one: (one.until is not None, -abs(one.split.shift) / one.kind.least))
        return tuple(found)

    def of(self, metric: Metric) -> Change | None:
        """Return the change of a series that lasts and is the largest."""
        return next((c for c in self.changes if c.kind.metric == metric and not c.until), None)

    def _of(self, kind: Kind) -> Iterator[Change]:
        points = tuple(kind.points(self.runs))
        found = list(_worse(kind, points))
        ranks = sorted({point.block.rank for point in points})
        if not found and 1 < len(ranks) <= _RANKS:
            for rank in ranks:
                found += _worse(kind, tuple(p for p in points if p.block.rank == rank), rank)
        yield from found


def _of_one_model(runs: tuple[EarlierRun, ...]) -> tuple[EarlierRun, ...]:
    """Return the last runs that served one model: another one has steps of its own."""
    model = _model(runs[-1])
    for number in range(len(runs) - 1, -1, -1):
        if model and _model(runs[number]) not in (None, model):
            return runs[number + 1 :]
    return runs


def _model(run: EarlierRun) -> object:
    return (run.resolved or {}).get("model_path") or (run.resolved or {}).get("model")


def _worse(kind: Kind, points: tuple[Point, ...], rank: str = "") -> Iterator[Change]:
    values, strata = [p.value for p in points], [p.stratum for p in points]
    splits = changes(values, strata, kind.least)
    edges = [0, *(split.before for split in splits), len(points)]
    for number, split in enumerate(splits):
        begin, end = edges[number], edges[number + 2]
        if kind.worse * split.shift < kind.least:
            continue
        last = slice(edges[-2], edges[-1])
        left = shift_between(
            (values[begin : split.before], strata[begin : split.before]),
            (values[last], strata[last]),
        )
        over = left is not None and kind.worse * left < LASTS * kind.worse * split.shift
        until = points[end] if over and end < len(points) else None
        if until is not None and points[split.before].run != points[max(0, split.low - 1)].run:
            continue  # a start that was slow until it was warm
        yield Change(kind, split, points, begin, end, rank, until)


_RANKS = 64  # beyond, none is looked at by itself
_COARSE = {"vllm": 3.0}  # its lines tell of ten seconds, with what was idle or prefill in them
