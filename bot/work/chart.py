"""The one chart that goes with a verdict: what shows best why it was reached."""

from __future__ import annotations

from bot.charts import Picture, pictures
from bot.investigate import Judged

_BY_THE_LOG = frozenset(("became_slower_over_time", "version_regression", "acceptance_drop"))


def chart_of(end: Judged) -> Picture | None:
    """Return the chart of a verdict; None where there is nothing to draw.

    Of a server that got slower the log is shown; else where the time of a step goes, else links and
    clocks over the seconds that were watched.
    """
    found = pictures(end.evidence, end.verdict.headroom)
    if end.verdict.cause in _BY_THE_LOG:
        found.sort(key=lambda one: one.name != "history")
    return found[0] if found else None
