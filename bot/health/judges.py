"""What many hosts answered is judged in processes of its own: Python does arithmetic one thread at a time."""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Self

from bot.health.look import judged
from bot.health.looked import Looked
from bot.settings import Settings
from tools.host import Output

# One is some 50 MB of its own, and two judge what one process can ask (tests/bench/health_bench.py).
MOST = 2
Aside = Callable[[], AbstractContextManager[object]]


class Judges:
    """A judge for the threads of a sweep; one process each, once `many` was said, and none before.

    Who waits for one does so in `aside()`, so that others may think meanwhile. Judges end with the
    process that began them, however that ends; what a dead one had is judged here.
    """

    def __init__(self, settings: Settings, aside: Aside = nullcontext) -> None:
        self._settings, self._aside = settings, aside
        self._idle: queue.SimpleQueue[Connection | None] = queue.SimpleQueue()
        self._processes: list[SpawnProcess] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join()

    def many(self) -> None:
        """Begin the processes, once; one for each core, up to MOST."""
        if self._processes:
            return
        context = multiprocessing.get_context("spawn")
        for _ in range(min(os.cpu_count() or 1, MOST)):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_judge, args=(theirs, self._settings), name="judge", daemon=True
            )
            process.start()
            theirs.close()
            self._processes.append(process)
            self._idle.put(ours)

    def __call__(
        self, name: str, at: float, outputs: Sequence[Output], settings: Settings
    ) -> Looked:
        """Judge as bot.health.look.judged does."""
        if not self._processes:
            return judged(name, at, outputs, settings)
        with self._aside():
            looked = self._sent(name, at, outputs)
        return looked or judged(name, at, outputs, settings)

    def _sent(self, name: str, at: float, outputs: Sequence[Output]) -> Looked | None:
        """Have a process judge it; None where that died, and whoever comes after it is told so."""
        idle = self._idle.get()
        looked: Looked | None = None
        if idle is not None:
            try:
                idle.send((name, at, outputs))
                looked = idle.recv()
            except (EOFError, OSError):
                idle.close()
                idle = None
        self._idle.put(idle)
        return looked


def _judge(asked: Connection, settings: Settings) -> None:
    """Judge what comes, until nobody is left to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: ours is the end
    while True:
        try:
            name, at, outputs = asked.recv()
        except (EOFError, OSError):
            return
        asked.send(judged(name, at, outputs, settings))
