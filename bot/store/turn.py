"""Whose turn it is to write: one thread at a time, in the order of asking, the urgent before all."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class Turn:
    """A lock that is fair. threading.Lock is not: under load a thread may wait for seconds."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._taken = False
        self._urgent: deque[threading.Lock] = deque()
        self._others: deque[threading.Lock] = deque()

    @contextmanager
    def taken(self, *, urgent: bool = False) -> Iterator[None]:
        """Wait for the turn and give it on at the end; urgent: before all who are not."""
        self._wait(self._urgent if urgent else self._others)
        try:
            yield
        finally:
            self._give_on()

    def _wait(self, queue: deque[threading.Lock]) -> None:
        with self._guard:
            if not self._taken:
                self._taken = True
                return
            called = threading.Lock()
            called.acquire()
            queue.append(called)
        called.acquire()  # until it is our turn, which was taken for us

    def _give_on(self) -> None:
        with self._guard:
            queue = self._urgent or self._others
            if queue:
                queue.popleft().release()
            else:
                self._taken = False
