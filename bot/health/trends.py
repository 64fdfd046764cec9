"""The figures over a whole group: the median of today beside that of the days before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from bot.health.looked import Looked
from tools.vitals.figures import FIGURES, FigureName


@dataclass(frozen=True)
class Trend:
    """A figure over the whole group: the median of today and of the days before, and how many have it."""

    figure: FigureName
    now: float
    normal: float | None
    hosts: int


class Trends:
    """Takes host after host, and keeps nothing of them but numbers: a thousand have many days."""

    def __init__(self) -> None:
        self._now: dict[FigureName, list[float]] = defaultdict(list)
        self._before: dict[FigureName, list[float]] = defaultdict(list)

    def add(self, today: Looked, days: Iterable[Looked]) -> None:
        """Take a host: its look of today, and those of the days before."""
        for name, reading in today.vitals.figures.items():
            self._now[name].append(reading.value)
        for day in days:
            for name, reading in day.vitals.figures.items():
                self._before[name].append(reading.value)

    def told(self) -> tuple[Trend, ...]:
        """Return each figure that some host has today."""
        return tuple(
            Trend(name, median(now), median(before) if before else None, len(now))
            for name in FIGURES
            if (now := self._now[name])
            for before in [self._before[name]]
        )
