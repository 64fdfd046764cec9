"""The diary of one experiment: each phase is written down before its act, and told while it happens."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from bot.experiment.books import Books, Held, Overtaken, Said, Unwritten
from bot.experiment.record import Phase, Record
from bot.experiment.step import Step, begun, done, is_end
from tools.errors import ToolsError

_WAITS_S = (
    0.2,
    0.5,
    1.0,
    2.0,
    4.0,
)  # for a database that is away for a moment; then the job tries again
_LOG = logging.getLogger("perfsleuth.experiment")

Tell = Callable[[Step], None]


class Diary:
    """Writes and tells. While the database refuses, nobody speaks to the host: its dead-man counts."""

    def __init__(
        self,
        books: Books,
        tell: Tell,
        now: Callable[[], float],
        sleep: Callable[[float], None],
        waits_s: Sequence[float] = _WAITS_S,
    ) -> None:
        self._books, self._tell = books, tell
        self._now, self._sleep, self._waits_s = now, sleep, waits_s

    def to(
        self, record: Record, phase: Phase, said: str = "", *, ill: bool = False, **changes: Any
    ) -> Record:
        """Go on to a phase: write it and what came of the one before, then tell both.

        Raises Unwritten where the books cannot be written; nothing was done then.
        """
        now = self._now()
        took_s = now - record.phase_at if record.phase_at else None
        new = record.model_copy(update={**changes, "phase": phase, "phase_at": now})
        told = [Said(now, record.phase, said, took_s, ill)] if said else []
        if is_end(phase):
            new = new.model_copy(update={"ended_at": now})
        self._save(new, told)
        for one in told:
            self._tell(done(one))
        if not is_end(phase):
            self._tell(begun(phase))
        return new

    def again(self, record: Record) -> None:
        """Tell where it goes on after a restart."""
        if not record.over and record.phase != "approved":
            self._tell(begun(record.phase))

    def progress(self, record: Record, more: str) -> None:
        """Tell how far a phase is; nothing is written."""
        self._tell(begun(record.phase, more))

    def _save(self, record: Record, told: Sequence[Said]) -> None:
        for wait_s in (*self._waits_s, None):
            try:
                return self._books.save(record, told)
            except (Held, Overtaken):
                raise
            except ToolsError as why:
                if wait_s is None:
                    raise Unwritten(why) from None
                _LOG.warning("experiment %d cannot be written yet: %s", record.run, why)
            self._sleep(wait_s)
        raise AssertionError("the last try returns or raises")
