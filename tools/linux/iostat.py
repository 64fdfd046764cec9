"""The tables of `iostat -x`, in any locale."""

from __future__ import annotations

from tools.linux.machine import Storage
from tools.linux.quantity import number

_WAITS = ("await", "r_await", "w_await")  # sysstat 9 has await alone, 11 all three, 12 the last two


def read_iostat(text: str) -> Storage | None:
    """Return the last report: the first of several is the average since boot. None if there is none."""
    columns: list[str] = []
    busy: dict[str, float] = {}
    waits: dict[str, float] = {}
    for line in text.split("\n"):
        words = line[:2000].split()
        if words and words[-1] == "%util" and len(words) > 3:
            columns, busy, waits = words, {}, {}
        elif columns and len(words) == len(columns) and (share := number(words[-1])) is not None:
            busy[words[0]] = share
            told = [
                number(word) for name, word in zip(columns, words, strict=True) if name in _WAITS
            ]
            slowest = max((wait for wait in told if wait is not None), default=None)
            if slowest is not None:
                waits[words[0]] = slowest
    return Storage(busy_pct=busy, await_ms=waits) if busy else None


def is_iostat(text: str) -> bool:
    """Say whether a text has the head of such a table."""
    return "%util" in text and any(
        line.rstrip().endswith("%util") for line in text[:65536].split("\n")
    )
