"""This machine, asked like any other."""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, cast

from tools.batch import Batch, Garbled, bootstrap, last_words
from tools.errors import Unreachable
from tools.host import STOPPED, Asks, Output

PARTING_S = 1.0  # for the runner to end after its last answer
SLACK_S = 10.0  # what a batch may take beyond its own bound before it is given up


class LocalHost:
    """The machine that this program runs on. `answer` raises Unreachable where Python is not there."""

    def __init__(self, name: str = "localhost", *, python: str = sys.executable) -> None:
        self.name = name
        self.python = python
        self._guard = threading.Lock()
        self._asking: set[subprocess.Popen[bytes]] = set()
        self._stopped: set[subprocess.Popen[bytes]] = set()

    def close(self) -> None:
        """End what is being asked; the guard of each runner ends what it began."""
        with self._guard:
            self._stopped |= self._asking
            for runner in self._asking:
                runner.kill()

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        """Ask all at once, in a process of their own that ends when this one does."""
        if not probes:
            return []
        batch = Batch(probes)
        with self._guard:
            runner = self._start()
            self._asking.add(runner)
        try:
            return self._ask(runner, batch)
        finally:
            with self._guard:
                self._asking.discard(runner)
                self._stopped.discard(runner)

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603  # a fixed text for an interpreter of the settings
                bootstrap(self.python),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as why:
            raise Unreachable(
                f"{self.python} cannot be started on {self.name}: {why.strerror}"
            ) from None

    def _ask(self, runner: subprocess.Popen[bytes], batch: Batch) -> Sequence[Output]:
        stdin = cast("IO[bytes]", runner.stdin)
        writer = threading.Thread(target=_write, args=(stdin, batch.payload()), daemon=True)
        with runner:
            writer.start()
            try:
                return self._converse(runner, batch)
            finally:
                self._let_go(runner, batch)
                writer.join(PARTING_S)  # before its pipe is closed under it; nobody reads any more

    @staticmethod
    def _let_go(runner: subprocess.Popen[bytes], batch: Batch) -> None:
        """Let a runner that has answered all end by itself; of any other the guard ends what it began."""
        with suppress(subprocess.TimeoutExpired):
            runner.wait(PARTING_S if batch.done else 0)
        runner.kill()

    def _converse(self, runner: subprocess.Popen[bytes], batch: Batch) -> Sequence[Output]:
        said = bytearray()
        streams = [cast("IO[bytes]", end) for end in (runner.stdout, runner.stderr)]
        try:
            lost = _read(batch, said, *streams)
        except Garbled as why:
            lost = str(why)
        if lost and runner in self._stopped:
            return batch.outputs(STOPPED)
        if lost and batch.silent:
            words = last_words(batch.noise, bytes(said))
            raise Unreachable(f"{self.python} on {self.name} cannot run what is asked: {words}")
        return batch.outputs(lost)


def _write(stdin: IO[bytes], payload: bytes) -> None:
    """Write beside the reading, so that neither side can wait for the other; stdin stays open."""
    rest = memoryview(payload)
    try:
        while rest:
            rest = rest[stdin.write(rest) or 0 :]
    except OSError:
        return  # the runner has ended; the reading side says so


def _read(batch: Batch, said: bytearray, stdout: IO[bytes], stderr: IO[bytes]) -> str:
    """Read until all is answered; return why it is not, or nothing."""
    over = time.monotonic() + batch.bound_s + SLACK_S
    with selectors.DefaultSelector() as streams:
        streams.register(stdout, selectors.EVENT_READ)
        streams.register(stderr, selectors.EVENT_READ)
        while not batch.done and streams.get_map():
            ready = streams.select(max(0.0, over - time.monotonic()))
            if not ready:
                return f"no answer within {batch.bound_s + SLACK_S:.0f} s"
            for key, _ in ready:
                data = os.read(key.fd, 1 << 18)
                if not data:
                    streams.unregister(key.fileobj)
                elif key.fileobj is stderr:
                    said += data[: max(0, 4096 - len(said))]
                else:
                    batch.feed(data)
    return "" if batch.done else "the process that asks was ended before this was answered"
