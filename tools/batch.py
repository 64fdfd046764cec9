"""A batch of commands on the wire: one text goes out, one framed answer comes back for each.

What runs on the host is tools/remote/fork.py and runner.py. They and the commands travel on stdin, compressed;
the program that a host is told to start is always the same text.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from tools.errors import ToolsError
from tools.harmless import harmless
from tools.host import Asks, Command, Output
from tools.secrets import scrub

AT_ONCE = 8  # commands that run at the same time on a host
BOUND_S = 180.0  # a whole batch, whatever its commands ask for
STDERR_BYTES = 64 << 10  # as in runner.py
NOISE_BYTES = 4096  # what a shell's start-up files may print before the first answer
MAGIC = b"\0PSL1"

# Nothing from outside is ever put into this text, and it holds no single quote and no newline, so
# that every login shell takes it as it is.
BOOTSTRAP = (
    "import sys,zlib;i=sys.stdin.buffer;"
    "s,j=zlib.decompress(i.read(int(i.readline()))).split(bytes(1),1);"
    'exec(compile(s,"runner","exec"),{"JOB":j,"__name__":"runner"})'
)


class Garbled(ToolsError):
    """What came back is no answer of our runner."""


def bootstrap(python: str) -> tuple[str, ...]:
    """Return the program that starts the runner; `python` is a name or a path of an interpreter."""
    if not python or python.startswith("-"):
        raise ToolsError(f"{python!r} is no name or path of a Python interpreter")
    return (python, "-I", "-u", "-c", BOOTSTRAP)


class Batch:
    """What is asked in one round, and what has come back of it so far.

    Commands that are equal run once. `outputs` may be called at any time: what has no answer yet
    is lost, and the caller says why.
    """

    def __init__(self, probes: Sequence[Asks], *, bound_s: float = BOUND_S) -> None:
        asked = [probe.command() for probe in probes]
        self._commands = list(dict.fromkeys(asked))
        places = {command: place for place, command in enumerate(self._commands)}
        self._order = [places[command] for command in asked]
        self._answers: dict[int, Output] = {}
        self._buffer = bytearray()
        self._in_step = False
        limits = [command.limit_s for command in self._commands]
        self.bound_s = min(bound_s, max(limits, default=0.0) + sum(limits) / AT_ONCE + 2.0)
        self._noise = b""

    @property
    def silent(self) -> bool:
        """Say whether the runner never spoke at all."""
        return not self._in_step

    @property
    def noise(self) -> bytes:
        """What came before the runner spoke: greetings of a shell, or why it never spoke."""
        return self._noise + bytes(self._buffer) if self.silent else self._noise

    @property
    def done(self) -> bool:
        """Say whether every command has its answer."""
        return len(self._answers) == len(self._commands)

    def payload(self) -> bytes:
        """Return all that goes to the bootstrap's stdin: the runner and the commands."""
        job = {
            "commands": [_told(c) for c in self._commands],
            "at_once": AT_ONCE,
            "bound_s": self.bound_s,
        }
        return _packed(json.dumps(job))

    def feed(self, data: bytes) -> None:
        """Take what came from the runner; raise Garbled if it cannot come from it."""
        self._buffer += data
        if not self._in_step and not self._find_start():
            return
        while (packed := self._next()) is not None:
            self._take(packed)

    def outputs(self, lost: str) -> list[Output]:
        """Return one output for each probe; what has no answer is lost, and `lost` says why."""
        missing = Output(status=None, lost=lost)
        return [self._answers.get(place, missing) for place in self._order]

    def _find_start(self) -> bool:
        """Skip what start-up files of the login shell printed before the runner spoke."""
        start = self._buffer.find(MAGIC)
        self._in_step = start >= 0
        skipped = self._buffer[: start if self._in_step else max(0, len(self._buffer) - len(MAGIC))]
        self._noise = (self._noise + bytes(skipped))[-NOISE_BYTES:]
        del self._buffer[: len(skipped)]
        return self._in_step

    def _next(self) -> bytes | None:
        head = len(MAGIC) + 4
        if len(self._buffer) < head:
            return None
        length = int.from_bytes(self._buffer[head - 4 : head], "big")
        if not self._buffer.startswith(MAGIC) or length > self._largest + (1 << 16):
            raise Garbled("what came back is not in the form of an answer")
        if len(self._buffer) < head + length:
            return None
        packed = bytes(self._buffer[head : head + length])
        del self._buffer[: head + length]
        return packed

    @property
    def _largest(self) -> int:
        """The bytes of the largest answer that can be true; zlib adds a little to what it cannot pack."""
        most = max((command.max_bytes for command in self._commands), default=0)
        return most + most // 1000 + STDERR_BYTES + 8192

    def _take(self, packed: bytes) -> None:
        try:
            text = zlib.decompressobj().decompress(packed, self._largest)
            line, _, body = text.partition(b"\n")
            told = json.loads(line)
            place, size = int(told["n"]), int(told["out"])
            if not 0 <= place < len(self._commands):
                raise Garbled("an answer came to a question that was not asked")
            self._answers[place] = Output(
                stdout=body[:size].decode("utf-8", "replace"),
                stderr=body[size:].decode("utf-8", "replace"),
                status=told["status"],
                took_s=told["took_s"],
                cut=told["cut"],
                lost=told["lost"],
            )
        except (zlib.error, ValueError, KeyError, TypeError):
            raise Garbled("an answer came back damaged") from None


def last_words(*streams: bytes) -> str:
    """Return the last line that a program said before it failed, fit for one sentence."""
    lines = [
        line
        for stream in streams
        for line in stream.decode("utf-8", "replace").splitlines()
        if line.strip()
    ]
    return harmless(scrub(lines[-1].strip()))[:300] if lines else "it said nothing"


def _told(command: Command) -> dict[str, Any]:
    return command.model_dump(include={"argv", "stdin", "limit_s", "max_bytes"})


@lru_cache(maxsize=8)
def _packed(job: str) -> bytes:
    """Return the runner and a job as they go over the wire; a sweep puts one job to every host."""
    folder = files("tools.remote")
    source = "\n".join(
        (folder / name).read_text(encoding="utf-8") for name in ("fork.py", "runner.py")
    )
    packed = zlib.compress(source.encode() + b"\0" + job.encode(), 9)
    return b"%d\n" % len(packed) + packed
