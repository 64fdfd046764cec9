"""Shares of CPU time as mpstat prints them, and clocks as turbostat does."""

from __future__ import annotations

from typing import Any

from tools.linux.quantity import number

Told = dict[str, Any]
_MOMENT = 3  # words before the columns: "15:29:26", "03:29:26 PM", "Average:", in any language
_AT_WORK_PCT = 20.0  # a core that idles tells nothing of its clock
_MOST = 100_000  # lines


def read_mpstat(text: str) -> Told:
    """Return idle time and steal over all cores, and each core's soft interrupts (sysstat 11 to 12.7)."""
    columns: list[str] = []
    last: dict[str, float | None] = {}
    soft: dict[str, float] = {}
    for line in text.split("\n")[:_MOST]:
        words = line.split()
        if "CPU" in words[: _MOMENT + 1] and words[-1:] == ["%idle"]:
            columns = words
        elif columns and "all" in words[: _MOMENT + 1] and len(words) == len(columns):
            last = {name: number(word) for name, word in zip(columns, words, strict=True)}
        elif columns and len(words) == len(columns):
            row = dict(zip(columns, words, strict=True))
            share = number(row.get("%soft", ""))
            if row["CPU"].isdecimal() and share is not None:
                soft[row["CPU"]] = share
    idle = last.get("%idle")
    if idle is None:
        return {}
    return {"idle_pct": idle, "steal_pct": last.get("%steal"), "soft_pct": soft or None}


def read_turbostat(text: str) -> Told:
    """Return the clocks of the cores that work (turbostat 2017 to 2025): Bzy_MHz of the last turn."""
    columns: list[str] = []
    clocks: list[float] = []
    for line in text.split("\n")[:_MOST]:
        words = line.split()
        if "Bzy_MHz" in words and "Busy%" in words:
            columns, clocks = words, []
        elif columns and words and words[0].isdecimal():  # the first row, of dashes, is the average
            row = dict(zip(columns, words, strict=False))
            busy, clock = number(row.get("Busy%", "")), number(row.get("Bzy_MHz", ""))
            if clock is not None and busy is not None and busy >= _AT_WORK_PCT:
                clocks.append(clock)
    return {"mhz_now": tuple(clocks)} if clocks else {}
