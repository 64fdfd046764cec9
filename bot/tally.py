"""What this process has counted since it began: looks by their time, troubles of Slack, answers of models."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

# Seconds. A batch on a healthy host takes 0.5 to 2 s, one under load up to 20 s; 45 s ends a look.
BOUNDS_S = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 45.0, 90.0)


@dataclass
class Times:
    """How many took at most so long, for each bound and without one, and their sum in seconds."""

    within: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_S) + 1))
    sum_s: float = 0.0


class Tally:
    """Thread-safe; one in a process."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._looks: dict[str, Times] = {}
        self._slack: Counter[str] = Counter()

    @contextmanager
    def look(self) -> Iterator[None]:
        """Time one batch of questions to a host; one that raised has failed."""
        began, outcome = time.monotonic(), "failed"
        try:
            yield
            outcome = "answered"
        finally:
            self._timed(outcome, time.monotonic() - began)

    def slack_trouble(self, kind: str) -> None:
        """Count a call of Slack's Web API that failed, by its kind of trouble."""
        with self._guard:
            self._slack[kind] += 1

    def looks(self) -> dict[str, Times]:
        """Return the times of looks by their outcome, each count with those below it."""
        with self._guard:
            return {
                outcome: Times(
                    [sum(one.within[: n + 1]) for n in range(len(one.within))], one.sum_s
                )
                for outcome, one in self._looks.items()
            }

    def slack(self) -> dict[str, int]:
        """Return the troubles of Slack by kind."""
        with self._guard:
            return dict(self._slack)

    def _timed(self, outcome: str, took_s: float) -> None:
        place = next((n for n, bound in enumerate(BOUNDS_S) if took_s <= bound), len(BOUNDS_S))
        with self._guard:
            times = self._looks.setdefault(outcome, Times())
            times.within[place] += 1
            times.sum_s += took_s


TALLY = Tally()
