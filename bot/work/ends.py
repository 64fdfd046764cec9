"""The end of a run and of those who joined it: states and letters in one transaction."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.audience import Audience
from bot.letter import Letter
from bot.store import Run, Store, StoreError
from bot.store.run import WAITS, RunState
from bot.work import told
from bot.work.pairs import awaited, looks_for

_LOG = logging.getLogger("perfsleuth.work")
_WAITS_S = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0)  # for a database that is away for a while


@dataclass(frozen=True)
class End:
    """How one run ends: its state, what was said, and the letters that say it."""

    run: Run
    state: RunState
    letters: Sequence[Letter]
    category: str | None = None
    headline: str | None = None


class Ends:
    """Ends runs. `enqueue` takes the follow-ups that waited for one."""

    def __init__(self, store: Store, audience: Audience) -> None:
        self._store = store
        self._audience = audience
        self.enqueue: Callable[[Run], None] = _nobody_works
        self.waits_s: Sequence[float] = _WAITS_S

    def end(self, run: Run, of: Callable[[Run], End]) -> None:
        """End a run and those that joined it; `of` says how, for each of them.

        Verdicts are made before the transaction; who joins meanwhile makes it begin anew. What
        waits for the looks only (a follow-up) gets its own turn.
        """
        waits = list(self.waits_s)
        while True:
            try:
                released = self._try(run, of)
            except StoreError as why:
                if not waits:
                    raise
                _LOG.warning("run %s cannot be ended yet: %s", run.id, why)
                time.sleep(waits.pop(0))
                continue
            if released is not None:
                break
        self._audience.ended(run)
        self._audience.letters()
        for one in released:
            self.enqueue(one)

    def _try(self, run: Run, of: Callable[[Run], End]) -> list[Run] | None:
        """Return what may begin now; None if somebody joined in between."""
        joined = self._store.runs.joined_to(run.id)
        waiting = [one for one in joined if one.kind in WAITS]
        ends = [of(run), *(of(one) for one in joined if one.kind not in WAITS)]
        with self._store.together():
            for host in self._held(run, waiting):
                self._store.runs.open_on(host)  # holds back who would join, or be, an ended run
            if self._store.runs.joined_to(run.id) != joined:
                return None
            for end in ends:
                self._write(end)
            return [one for one in waiting if self._released(one)]

    def _held(self, run: Run, waiting: Sequence[Run]) -> list[str]:
        """Return the hosts on which nobody else may decide meanwhile, always in the same order."""
        others = [look.host for one in waiting for look in looks_for(self._store, one)]
        return sorted({host.lower() for host in (run.host, *others) if host})

    def _released(self, run: Run) -> bool:
        """Let what waited have its turn; a comparison waits for both of its looks."""
        still = awaited(self._store, run)
        self._store.runs.rejoin(run.id, still.id if still else None)
        return still is None

    def _write(self, end: End) -> None:
        run, runs = end.run, self._store.runs
        if not runs.end(run.id, end.state, category=end.category, headline=end.headline):
            return
        for letter in end.letters:
            self._store.letters.add(letter)
        if run.joins is None and run.kind not in (*WAITS, "sweep"):
            self._store.letters.add(told.trail_end(run))
        self._store.audit.note(
            run.user, run.channel, f"end of {run.kind}", f"run {run.id}", end.state, run.host
        )


def _nobody_works(_run: Run) -> None:
    return
