"""The figures by which days of a host are compared: which way is worse, and what is worth a word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FigureName = Literal["decode", "prefill", "ttft", "accept", "cached", "queued", "clock", "link"]


@dataclass(frozen=True)
class Figure:
    """A figure as people name it. `worse` is the way that is worse: 1 more, -1 less.

    `floor_pct` is the least change that is told: two days of one steady server differ by less (decode
    and accept length within 2 % on recorded logs; TTFT and shares of cache move with the prompts).
    """

    name: FigureName
    label: str
    unit: str
    worse: Literal[1, -1]
    floor_pct: float

    def told(self, value: float) -> str:
        """Write a value with its unit: "55.2 tok/s", "410 ms", "3.12"."""
        digits = 2 if value < 10 else 1 if value < 100 else 0
        number = f"{value:,.{digits}f}"
        return f"{number} {self.unit}" if self.unit else number


FIGURES: dict[FigureName, Figure] = {
    one.name: one
    for one in (
        Figure("decode", "decode rate", "tok/s", -1, 4.0),
        Figure("prefill", "prefill rate", "tok/s", -1, 8.0),
        Figure("ttft", "time to first token", "ms", 1, 20.0),
        Figure("accept", "accept length", "", -1, 4.0),
        Figure("cached", "prompt tokens from the cache", "%", -1, 20.0),
        Figure("queued", "lines with requests waiting", "%", 1, 50.0),
        Figure("clock", "SM clock under load", "MHz", -1, 5.0),
        Figure("link", "slowest PCIe link under load", "GB/s", -1, 20.0),
    )
}
