"""What it is to be asked: a command, its output, a host."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

LIMIT_S = 10.0
MAX_BYTES = 1 << 20
STOPPED = "stopped before this was answered"  # what `close` loses


class Command(BaseModel):
    """A program and its arguments; never a composed shell line.

    `stdin` is a script for an interpreter named in `argv`; `stdin_name` says which, for people and
    case files. `limit_s` is wall-clock seconds, after which the whole process group is ended;
    `max_bytes` caps standard output, and what lies beyond is cut and marked as cut.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    argv: tuple[str, ...] = Field(min_length=1)
    stdin: str = ""
    stdin_name: str = ""
    limit_s: float = Field(LIMIT_S, gt=0, le=120)
    max_bytes: int = Field(MAX_BYTES, gt=0, le=64 << 20)

    def shown(self) -> str:
        """Return the command as a person reads it; for display alone, it is never run like this."""
        line = " ".join(
            arg if arg and not set(arg) & set(" '\"\\$|<>&;") else repr(arg) for arg in self.argv
        )
        return f"{line} < {self.stdin_name}" if self.stdin_name else line


def script(
    name: str,
    *arguments: str,
    after: Sequence[str] = (),
    limit_s: float = LIMIT_S,
    max_bytes: int = MAX_BYTES,
) -> Command:
    """Return the command that runs one of our scripts of tools/remote on the host, from stdin.

    `after` names scripts whose text goes before it, so that what they define is at hand; one that
    says `# Goes after x.py` is itself preceded by x. Each part begins with `# part: x.py`, so that
    the runner can compile once what several scripts share.
    """
    return Command(
        argv=("python3", "-I", "-", *arguments),
        stdin=_whole((*after, name)),
        stdin_name=f"{name}.py",
        limit_s=limit_s,
        max_bytes=max_bytes,
    )


@cache
def _whole(names: tuple[str, ...]) -> str:
    """Put scripts together, each after those that it needs; read once, for a sweep asks for it again and again."""
    texts: dict[str, str] = {}
    for name in names:
        _add(name, texts)
    return "\n".join(f"# part: {part}.py\n{source}" for part, source in texts.items())


def _add(name: str, texts: dict[str, str]) -> None:
    if name in texts:
        return
    text = (files("tools.remote") / f"{name}.py").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("# Goes after "):
            _add(line.removeprefix("# Goes after ").removesuffix(".py"), texts)
    texts[name] = text


class Output(BaseModel):
    """What came back of one command.

    `status` is the exit status, None if it did not end by itself. `lost` is empty when the answer
    is whole, else one sentence that says why there is none or only part of it ("timed out after
    10 s and was ended"). `cut` says that more than `max_bytes` came.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    stdout: str = ""
    stderr: str = ""
    status: int | None = 0
    took_s: float = 0.0
    cut: bool = False
    lost: str = ""


class Asks(Protocol):
    """What a host must know of a probe: its key, the command it puts, and its answers by sight."""

    @property
    def key(self) -> str:
        """Name the question and its arguments, so that a replay finds its answer again."""

    def command(self) -> Command:
        """Return the command to run."""

    def recognises(self, text: str, /) -> bool:
        """Say whether a text is an answer to this question."""


class Host(Protocol):
    """A machine that can be asked. `answer` raises HostError, and nothing else."""

    @property
    def name(self) -> str:
        """Name the host as people do."""

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        """Ask all in one batch, in one round trip where the host can; one output for each."""

    def close(self) -> None:
        """End what is being asked, at once and from any thread.

        Answers that came are kept, the others are lost as STOPPED. A later question is asked anew.
        """
