"""A diagnosis program of others, held against the same cases: it is run, and its verdict is read."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, get_args

from bot.evaluation.bundle import Bundle
from bot.evaluation.row import Row
from tools.errors import ToolsError
from tools.knowledge import Category
from tools.probe import JSON

LIMIT_S = 600.0
PLACES = ("{files}", "{dir}", "{question}")


class NoVerdict(ToolsError):
    """The program did not say a verdict."""


@dataclass(frozen=True)
class Told:
    """What the program concluded."""

    category: str = ""
    cause: str | None = None


@dataclass(frozen=True)
class Outside:
    """A program and its arguments, in which {question} is the question's file, {dir} the folder of
    the evidence and {files} each file in it. It prints {"verdict": {"category", "cause"}}.
    """

    argv: tuple[str, ...]
    limit_s: float = LIMIT_S

    @classmethod
    def of(cls, line: str) -> Outside:
        """Read a command line; raise ToolsError for one that is not given the evidence."""
        try:
            argv = tuple(shlex.split(line))
        except ValueError as why:
            raise ToolsError(f"--judge cannot be read: {why}.") from None
        if not any("{files}" in one or "{dir}" in one for one in argv):
            raise ToolsError(f"--judge must say where the evidence goes: {', '.join(PLACES)}.")
        return cls(argv)

    def judge(self, bundle: Bundle) -> Row:
        """Stage a case in a folder whose name tells nothing, run the program there, read its verdict."""
        with tempfile.TemporaryDirectory(prefix="case-") as place:
            argv = list(self._filled(_staged(bundle, Path(place)), Path(place)))
            began = perf_counter()
            try:
                told, trouble = _verdict(self._run(argv)), ""
            except NoVerdict as why:
                told, trouble = Told(), str(why)
            return Row.of(bundle, told, perf_counter() - began, trouble=trouble)

    def _filled(self, files: Sequence[Path], place: Path) -> Iterator[str]:
        for part in self.argv:
            if part == "{files}":
                yield from map(str, files)
            else:
                named = part.replace("{question}", str(place / "question.txt"))
                yield named.replace("{dir}", str(place / "evidence"))

    def _run(self, argv: Sequence[str]) -> str:
        try:
            done = subprocess.run(  # noqa: S603 - the program that the person named, without a shell
                argv,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self.limit_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise NoVerdict(f"it did not end within {self.limit_s:.0f} s") from None
        except OSError as why:
            raise ToolsError(f"{argv[0]} cannot be run: {why.strerror}.") from None
        said = done.stdout.decode("utf-8", "replace")
        if done.returncode and "verdict" not in said:
            words = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise NoVerdict(
                f"it ended with status {done.returncode}: {words[-1][:200] if words else ''}"
            )
        return said


def _staged(bundle: Bundle, place: Path) -> list[Path]:
    (place / "evidence").mkdir()
    (place / "question.txt").write_text(bundle.question + "\n", encoding="utf-8")
    return [Path(shutil.copy(path, place / "evidence")) for path in bundle.files]


def _verdict(text: str) -> Told:
    """Take the first object that holds a verdict; text around it does no harm."""
    at = text.find("{")
    while at >= 0:
        try:
            said, _ = JSON.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            said = None
        if isinstance(said, dict) and isinstance(said.get("verdict"), dict):
            return _told(said["verdict"])
        at = text.find("{", at + 1)
    raise NoVerdict('it printed no object with a "verdict"')


def _told(verdict: dict[str, Any]) -> Told:
    category, cause = verdict.get("category"), verdict.get("cause")
    if category not in get_args(Category):
        raise NoVerdict(
            f"its category is {str(category)[:40]!r}, not one of {', '.join(get_args(Category))}"
        )
    return Told(str(category), cause if isinstance(cause, str) and cause else None)
