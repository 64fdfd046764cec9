"""The course of an experiment between two phases: look, act where that is called for, and look again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from bot.experiment.diary import Diary
from bot.experiment.fate import Fate, Nobody
from bot.experiment.hands import Hands, Keeper
from bot.experiment.measuring import measured
from bot.experiment.record import UNTOUCHED, Measured, Phase, Record
from tools.change import State, Status


class Diverted(Exception):
    """The course goes on elsewhere: somebody asked for an end, or the host has gone another way."""

    def __init__(self, record: Record) -> None:
        super().__init__(record.phase)
        self.record = record


class Course:
    """Waits for states of the keeper. `stopped` returns who asked for an end; `sleep` waits."""

    def __init__(
        self,
        hands: Hands,
        diary: Diary,
        fate: Fate,
        stopped: Callable[[], str | None],
        sleep: Callable[[float], None],
        poll_s: float,
    ) -> None:
        self._hands, self._diary, self._fate = hands, diary, fate
        self._stopped, self._sleep, self._poll_s = stopped, sleep, poll_s

    def until(
        self,
        record: Record,
        keeper: Keeper,
        wanted: Collection[State],
        acts: Mapping[State, Callable[[], Status]] | None = None,
        *,
        status: Status | None = None,
        stops: bool = True,
    ) -> Status:
        """Return the status once it is one of the wanted; `acts` says what to do in which state.

        Raises Diverted where the course goes on elsewhere, Nobody where no keeper answers.
        """
        while True:
            status = status or keeper.status()
            if status is None:
                raise Nobody
            if (other := self._fate.elsewhere(record, status, keeper, wanted)) is not None:
                raise Diverted(other)
            if status.state in wanted:
                return status
            if stops:
                self.stop_if_asked(record)
            act = (acts or {}).get(status.state)
            status = act() if act else None
            if status is None or status.state not in wanted:
                self._sleep(self._poll_s)
                status = None

    def measured(self, record: Record, keeper: Keeper) -> Measured:
        """Measure the server that runs now; the keeper hears of us before each run."""
        wanted: State = "armed" if record.phase == "before" else "ready"

        def between() -> None:
            self.stop_if_asked(record)
            self.until(record, keeper, {wanted})

        return measured(
            self._hands, record.proposal, between=between, wait=self._sleep,
            told=lambda more: self._diary.progress(record, more),
        )  # fmt: skip

    def stop_if_asked(self, record: Record) -> None:
        """Turn back where somebody asked for that; raises Diverted."""
        if by := self._stopped():
            raise Diverted(self.back(record, f"Stopped by {by}.", stop_by=by))

    def back(self, record: Record, reason: str, **changes: Any) -> Record:
        """Take it back, or leave the host as it is where nothing was touched."""
        phase: Phase = "withdrawing" if record.phase in UNTOUCHED else "restoring"
        return self._diary.to(record, phase, reason, ill=True, reason=reason, **changes)
