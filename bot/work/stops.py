"""Who asks for a stop is heard while a host is asked: one thread looks into the store for all runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from bot.store import Store, StoreError

BEAT_S = 0.5  # a stop must end the probes within 5 s; closing a host takes up to one more
_LOG = logging.getLogger("perfsleuth.work")


class Closes(Protocol):
    """What is being asked, and can be ended from any thread: a host, or a run of load on one."""

    def close(self) -> None:
        """End what is being asked, at once."""


class Watch:
    """One run that is watched. `by` is who asked it to stop."""

    def __init__(self, end: Callable[[], None]) -> None:
        self.by: str | None = None
        self._end = end
        self._ending = threading.Lock()

    def asked(self) -> bool:
        """Say whether somebody asked it to stop."""
        return self.by is not None

    def stop(self, user: str) -> None:
        """End what is being asked. Called again and again, for a new round may just have begun."""
        self.by = user
        if self._ending.acquire(blocking=False):
            threading.Thread(target=self._close, name="stop", daemon=True).start()

    def _close(self) -> None:
        try:
            self._end()
        finally:
            self._ending.release()


class Stops:
    """Watches what runs in this process; the thread lives while there is something to watch."""

    def __init__(self, store: Store, *, beat_s: float = BEAT_S) -> None:
        self._store = store
        self._beat_s = beat_s
        self._guard = threading.Lock()
        self._watched: dict[int, Watch] = {}
        self._watching = False

    @contextmanager
    def watching(self, run_id: int, host: Closes | None) -> Iterator[Watch]:
        """Watch a run while its host is asked; the host is closed when a stop is asked for."""
        watch = Watch(host.close if host else _nothing)
        if by := self._store.runs.stop_asked([run_id]).get(run_id):
            watch.by = by
        with self._guard:
            self._watched[run_id] = watch
            if not self._watching:
                self._watching = True
                threading.Thread(target=self._look, name="stops", daemon=True).start()
        try:
            yield watch
        finally:
            with self._guard:
                self._watched.pop(run_id, None)

    def _look(self) -> None:
        beat = threading.Event()
        while True:
            with self._guard:
                watched = dict(self._watched)
                if not watched:
                    self._watching = False
                    return
            try:
                for run_id, user in self._store.runs.stop_asked(list(watched)).items():
                    watched[run_id].stop(user)
            except StoreError as why:
                _LOG.warning("stops cannot be looked for: %s", why)
            except Exception as why:  # noqa: BLE001 - who listens for all runs must not end by a fault with one
                _LOG.error("a fault while stops were looked for: %s", type(why).__name__)
            beat.wait(self._beat_s)


def _nothing() -> None:
    return
