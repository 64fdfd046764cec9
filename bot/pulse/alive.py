"""Whether the bot lives: its store answers, Slack is connected, work is taken up; one sentence if not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

WITHIN_S = 3.0  # a check that takes longer has failed: monitors wait 5 to 10 s
Check = Callable[[], str]  # "" where all is well, or one sentence


class Alive:
    """Asked by a monitor, from any thread. Each check has its time and holds nobody up."""

    def __init__(self, within_s: float = WITHIN_S) -> None:
        self._within_s = within_s
        self._checks: Sequence[tuple[str, Check]] = ()
        self._stuck: dict[str, threading.Thread] = {}

    def watch(self, checks: Sequence[tuple[str, Check]]) -> None:
        """Ask these, by the name of what they look at; before, the bot is starting."""
        self._checks = checks

    def sentence(self) -> str:
        """Return "" where it lives, or what is wrong."""
        if not self._checks:
            return "The bot is starting."
        for name, check in self._checks:
            if said := self._asked(name, check):
                return said
        return ""

    def _asked(self, name: str, check: Check) -> str:
        late = f"{name} did not answer within {self._within_s:g} s."
        if (before := self._stuck.get(name)) and before.is_alive():
            return late  # one thread waits for it, not one for each time it is asked
        said: list[str] = []
        thread = threading.Thread(target=lambda: said.append(check()), daemon=True)
        self._stuck[name] = thread
        thread.start()
        thread.join(self._within_s)
        return said[0] if said else late
