"""Identifiers that look like Slack's, and time stamps of which no two are equal."""

from __future__ import annotations

import itertools
import time


class Ids:
    """Hands out ids of one workspace: `U…` for users, `F…` for files, `1700000001.000100` for messages."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._last_us = 0

    def next(self, letter: str) -> str:
        """An id of ten characters that begins with `letter`."""
        return f"{letter}0{next(self._numbers):08X}"

    def ts(self) -> str:
        """The time of a message: seconds with microseconds, each later than the one before."""
        self._last_us = max(self._last_us + 1, time.time_ns() // 1000)
        return f"{self._last_us // 1_000_000}.{self._last_us % 1_000_000:06d}"
