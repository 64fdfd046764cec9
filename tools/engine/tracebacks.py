"""A Python traceback in a log: frames are swallowed, what remains is what it says at its end."""

from __future__ import annotations

from typing import NamedTuple

BEGINS = "Traceback (most recent call last)"
_BARE = ("AssertionError", "AssertionError:")  # say nothing; the line that failed does
_CHAINED = ("The above exception was", "During handling of the above", BEGINS)


class Ended(NamedTuple):
    """What a traceback said: the words before it and its last line, when, and which rank."""

    head: str
    last: str
    at: str | None
    rank: str

    @property
    def text(self) -> str:
        """Return both as one sentence."""
        return (self.head + self.last).strip() or "Traceback"


class Traceback:
    """A traceback that is being read; a chain of them counts as one, with the last line of all."""

    def __init__(self) -> None:
        self._open = False
        self._in_frames = False
        self._head, self._last, self._code = "", "", ""
        self._at: str | None = None
        self._rank = ""

    def begin(self, head: str, at: str | None, rank: str) -> None:
        """Begin one, with what its first line says before it."""
        if not self._open or head:
            self._head, self._at, self._rank = head, at, rank
        self._open = self._in_frames = True

    def takes(self, line: str) -> bool:
        """Say whether a line belongs to the traceback that is open."""
        if not self._open:
            return False
        if line.startswith(_CHAINED):
            self._in_frames = True
            return True
        if not line.strip() or line[0] in " \t|+":
            self._code = line.strip()[:200] if _is_code(line) else self._code
            return True
        if self._in_frames:
            said = f"AssertionError: {self._code}" if line.strip() in _BARE else line
            self._last, self._in_frames = said, False
            return True
        return False

    def end(self) -> Ended | None:
        """Return what it said, if one was open."""
        if not self._open:
            return None
        ended = Ended(self._head, self._last, self._at, self._rank)
        self._open = self._in_frames = False
        self._head = self._last = self._code = ""
        return ended


def _is_code(line: str) -> bool:
    """Say whether a line of a frame is source text, not its place and not the marks below it."""
    text = line.strip()
    return bool(text.strip("^~ ")) and not text.startswith('File "')
