"""A question with any command, for tests of hosts: no probe is needed to ask."""

from __future__ import annotations

from typing import Any

from tools.host import Command


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
