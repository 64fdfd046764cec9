"""A sweep is carried out: hosts are claimed one by one, whoever is idle helps, and who ends it tells it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from bot.health.looked import Looked
from bot.health.order import Order
from bot.health.sweep import AT_ONCE, Gate, claimed, open_gate
from bot.settings import Settings
from bot.store import Run, Store
from bot.work.ends import End, Ends
from bot.work.hosts import Reach
from bot.work.morning_letters import letters_of, nobody_letter
from bot.work.mornings import Mornings
from bot.work.turn import Turn

_WAIT_S = 1.0  # until hosts are asked for that other processes had, and may have died over
_CHANGING = "A change is being measured on it, so it was not looked at."


class Sweeps:
    """Carries out runs of kind sweep; goes on where a dead process was, and nobody is seen twice."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        ends: Ends,
        host_of: Reach,
        turn: Turn,
        *,
        through: Gate = open_gate,
        at_once: int = AT_ONCE,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._store, self._settings, self._ends = store, settings, ends
        self._host_of, self._turn, self._through = host_of, turn, through
        self._at_once, self._pause = at_once, pause
        self._mornings = Mornings(store)
        self._here: set[int] = set()

    def carry_out(self, run: Run) -> None:
        """Look at all that nobody has looked at, wait for what others hold, and tell it."""
        order = Order.model_validate_json(run.message)
        self._store.sweeps.open(run.id, order.date, order.hosts, daily=order.daily)
        self._here.add(run.id)
        try:
            with self._turn.another():  # each look takes the turn for itself
                self._until_done(run.id)
                summary, course = self._mornings.summary(run.id)  # many days: others may think
        finally:
            self._here.discard(run.id)
        if not order.hosts:
            self._ends.end(run, lambda one: End(one, "done", [nobody_letter(one, order)]))
            return
        letters = letters_of(run, order, summary, course)
        said = letters[0].parts[0]
        headline = getattr(said, "text", "")
        self._ends.end(run, lambda one: End(one, "done", letters, None, headline))

    def help(self, stopped: Callable[[], bool] = lambda: False) -> int:
        """Look at hosts of sweeps that other processes carry out; return how many."""
        return sum(
            self._look(run, stopped) for run in self._store.sweeps.opened() if run not in self._here
        )

    def _until_done(self, run: int) -> None:
        while True:
            self._look(run)
            if not self._store.sweeps.left(run):
                return
            self._pause(_WAIT_S)

    def _look(self, run: int, stopped: Callable[[], bool] = lambda: False) -> int:
        def claim(count: int) -> Sequence[str]:
            return self._free(run, self._store.sweeps.claim(run, count))

        looks = claimed(
            claim, self._settings, self._host_of, at_once=self._at_once, gate=self._gate, stopped=stopped,
            aside=self._turn.another,
        )  # fmt: skip
        return sum(self._store.sweeps.done(run, one) for one in looks)

    def _free(self, run: int, hosts: Sequence[str]) -> Sequence[str]:
        """Leave out where a change is under way: its server is down, or must not be disturbed."""
        if not hosts:
            return ()
        changing = {
            (one.host or "").lower()
            for one in self._store.runs.open()
            if one.kind in ("experiment", "campaign")
        }
        for host in hosts:
            if host.lower() in changing:
                left = Looked(host=host, at=self._store.now(), state="seen", headline=_CHANGING)
                self._store.sweeps.done(run, left)
        return [host for host in hosts if host.lower() not in changing]

    @contextmanager
    def _gate(self, host: str) -> Iterator[None]:
        with self._through(host), self._turn.mine():
            yield
