"""An idle process helps: with the sweeps of others, and with what is watched; in a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from tools.errors import ToolsError

EVERY_S = 20.0
Chore = Callable[[Callable[[], bool]], int]
_LOG = logging.getLogger("perfsleuth.work")


class Helping:
    """Does its chores one after the other, again and again; each is told how to learn that it must stop."""

    def __init__(self, *chores: Chore, every_s: float = EVERY_S) -> None:
        self._chores, self._every_s = chores, every_s
        self._stopped = threading.Event()
        self._idle = threading.Event()
        self._idle.set()
        # a daemon: a host that is being asked must not hold up the end of the process
        self._thread = threading.Thread(target=self._go_on, name="perfsleuth-helps", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, within_s: float = 0.0) -> bool:
        """Begin nothing more. False: something is still being looked at after so long."""
        self._stopped.set()
        return self._idle.wait(within_s)

    def once(self) -> None:
        """Do each chore once; what fails is told and tried again."""
        for chore in self._chores:
            try:
                chore(self._stopped.is_set)
            except ToolsError as why:
                _LOG.error("%s", why)

    def _go_on(self) -> None:
        while not self._stopped.wait(self._every_s):
            self._idle.clear()
            try:
                self.once()
            except Exception as why:  # noqa: BLE001 - its text may hold what a host printed
                _LOG.error("a fault while I helped: %s", type(why).__name__)
            finally:
                self._idle.set()
