"""A question with any command, for tests of hosts: no probe is needed to ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tools.batch import Batch
from tools.host import Asks, Command


class Ask:
    def __init__(self, *argv: str, **options: Any) -> None:
        self._command = Command(argv=argv, **options)

    @property
    def key(self) -> str:
        return repr(self._command)

    def command(self) -> Command:
        return self._command

    def recognises(self, text: str, /) -> bool:
        return False


def script(text: str, *arguments: str, **options: Any) -> Ask:
    """One of our scripts, sent as tools.host.script sends it."""
    return Ask("python3", "-I", "-", *arguments, stdin=text, stdin_name="test.py", **options)


def batches_seen(monkeypatch: pytest.MonkeyPatch) -> list[Batch]:
    """Every batch that is asked from here on: what has come of it can be waited for."""
    made: list[Batch] = []

    class Seen(Batch):
        def __init__(self, probes: Sequence[Asks]) -> None:
            super().__init__(probes)
            made.append(self)

    for where in ("tools.hosts.ssh.host.Batch", "tools.hosts.local.Batch"):
        monkeypatch.setattr(where, Seen)
    return made
