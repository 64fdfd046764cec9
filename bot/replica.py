"""One replica of the bot: its name, its store, its beats, and the gates that it shares with the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Self

from bot.beats import Beats
from bot.gates import Gates
from bot.jobs import Jobs
from bot.settings import Service, Settings
from bot.settings.service import AUTO
from bot.store import Store, StoreError
from bot.store.lock import Lock, hold, hold_any
from tools.host import Asks, Host, Output

Reach = Callable[[str, Settings], Host]


class Replica:
    """Opened before there are jobs, closed after them. Its name is taken before its store is opened."""

    def __init__(self, service: Service, known: Settings, store: Store, lock: Lock) -> None:
        self.service, self.store, self.lock = service, store, lock
        self.gates = Gates(store, known)
        self._beats: Beats | None = None

    @classmethod
    def open(cls, service: Service, known: Settings) -> Self:
        """Take its name, any that is free where it has none of its own, and open the store; raises StoreError."""
        url, name = service.database_url, service.executor
        lock, name = hold_any(url) if name == AUTO else (hold(url, name), name)
        try:
            store = Store.open(url, executor=name)
        except StoreError:
            lock.release()
            raise
        return cls(service.model_copy(update={"executor": name}), known, store, lock)

    def gated(self, host_of: Reach) -> Reach:
        """Return a way to reach hosts that are asked when their jump host has a place."""

        def reached(name: str, known: Settings) -> Host:
            return _Gated(host_of(name, known), name, self.gates)

        return reached

    def begin(self, jobs: Jobs) -> None:
        """Beat, and take over what silent replicas leave; before `jobs` are launched."""
        self._beats = Beats(self.store, jobs).begin()

    @property
    def beating(self) -> bool:
        """Say whether others can hear that it lives."""
        return self._beats is not None and self._beats.alive

    def close(self) -> None:
        """Fall silent and give the store back."""
        self.gates.close()
        if self._beats:
            self._beats.close()
        self.lock.release()
        with suppress(StoreError):
            self.store.close()


class _Gated:
    """A host that is asked when its jump host has a place."""

    def __init__(self, host: Host, known_as: str, gates: Gates) -> None:
        self._host, self._known_as, self._gates = host, known_as, gates

    @property
    def name(self) -> str:
        """Name the host as people do."""
        return self._host.name

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        """Wait for a place, and ask."""
        with self._gates.through(self._known_as):
            return self._host.answer(probes)

    def close(self) -> None:
        """End what is being asked; from any thread."""
        self._host.close()
