"""A real host that is asked one thing more than is wanted, which goes on for two minutes and ignores signals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.hosts.asks import Ask
from tests.lab.sshd import Lab, wait_for
from tools.host import Asks, Output
from tools.hosts.ssh import SshHost


class SlowHost(SshHost):
    """The lab, whose every round holds one more command; it tells its pid, and its child's, in `note`."""

    def __init__(self, lab: Lab, name: str, note: Path) -> None:
        super().__init__("lab", name=name, config_file=lab.config)
        self._note = note

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        text = f"trap '' TERM HUP; sleep 300 & echo $! > {self._note}.child; echo $$ > {self._note}; wait; sleep 300"
        return super().answer([*probes, Ask("sh", "-c", text, limit_s=120)])[:-1]


def begun(note: Path) -> list[int]:
    """Wait for the slow command, and return its pid and its child's."""
    wait_for(lambda: note.exists() and note.read_text().strip(), "the slow command never began")
    return [int(note.read_text()), int(Path(f"{note}.child").read_text())]
