"""What somebody tried and wrote down: runs with one thing changed between them."""

from __future__ import annotations

from pydantic import Field

from tools.engine.note import LONGEST, read_note
from tools.engine.trial import Trials
from tools.errors import Absent, Unreadable
from tools.host import Command, script
from tools.probe import Probe, told

_MARK = r"tok(en)?s?/s|t/s|req/s|GB/s|\bms\b|\d ?s\b|%|good|bad|works|hangs|crash"
_USUAL = "/tmp/ab.txt"  # noqa: S108 - it is read, never written


class ReadTrials(Probe[Trials]):
    """Read a note of a test: the same thing measured with one flag, variable, version or part changed.

    The test is made by a person, not by this probe; so its figures are testimony.
    Like: with --disable-radix-cache: TTFT 4.1 s / without: TTFT 0.35 s
    """

    routine = False

    path: str = Field(
        _USUAL, pattern=r"^/[^\x00\n]{1,4000}$", description="the file it was written to"
    )

    def command(self) -> Command:
        """Print the file, if it holds results."""
        return script("print_file", self.path, _MARK)

    def recognises(self, text: str, /) -> bool:
        """Know labelled lines and small tables whose runs differ in a knob that is known."""
        return len(text) <= LONGEST and read_note(text) is not None

    def parse(self, stdout: str, /) -> Trials:
        """Read tables, labelled lines and outcomes."""
        if stdout.startswith(('{"absent"', '{"failed"')):
            told(stdout)
        if not stdout.strip():
            raise Absent("the note is empty")
        found = read_note(stdout)
        if found is None:
            raise Unreadable("no two runs in it that differ in something that is known")
        return found
