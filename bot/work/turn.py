"""One thread thinks at a time; while it waits for a host or for Slack, another one may."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from bot.message import Message
from bot.tally import TALLY
from bot.traces import span
from bot.work.fetched import Fetch, Fetched
from tools.host import Asks, Host, Output


class Turn:
    """Held while work is done. Python does its arithmetic one thread at a time anyway.

    But twenty threads that compete for it leave a twentieth to the loop that must answer Slack.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @contextmanager
    def mine(self) -> Iterator[None]:
        """Wait for the turn, and have it."""
        with self._lock:
            yield

    @contextmanager
    def another(self) -> Iterator[None]:
        """Let others think meanwhile; only for who has the turn."""
        self._lock.release()
        try:
            yield
        finally:
            self._lock.acquire()

    def fetching(self, fetch: Fetch) -> Fetch:
        """Return a way to fetch the files of a message that waits in nobody's way."""

        def fetched(message: Message) -> Fetched:
            with self.another():
                return fetch(message)

        return fetched

    def asking(self, host: Host) -> Host:
        """Return a host that waits for its answers in nobody's way."""
        return _Asked(host, self.another)


class _Asked:
    """A host that is asked while others think."""

    def __init__(self, host: Host, another: Callable[[], AbstractContextManager[None]]) -> None:
        self._host, self._another = host, another

    @property
    def name(self) -> str:
        """Name the host as people do."""
        return self._host.name

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        """Ask, and have the turn again when the answers are there."""
        with self._another(), TALLY.look(), span("look", host=self._host.name, probes=len(probes)):
            return self._host.answer(probes)

    def close(self) -> None:
        """End what is being asked; from any thread, whoever has the turn."""
        self._host.close()
