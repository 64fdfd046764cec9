"""A comparison is told when both of its looks have ended; of one that failed the other is told alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot import narrator
from bot.investigate import Judged
from bot.narrator import Line, Part
from bot.narrator.compared import compared
from bot.question import Question
from bot.settings import Settings
from bot.store import Run, Store
from bot.work.looks import judged_by
from tools.comparison import Side, compare

_NEITHER = "Neither could be looked at, so there is no comparison."


def comparison(store: Store, settings: Settings, run: Run, looks: Sequence[Run]) -> Iterator[Part]:
    """Yield what came of a comparison; `looks` are its two investigations, both ended."""
    ends = [judged_by(store, look, settings) for look in looks]
    sides = [
        Side(look.host or "", end.evidence, end.verdict)
        for look, end in zip(looks, ends, strict=True)
        if end is not None
    ]
    if len(sides) == 2:
        aspects = Question.of(run.text, settings.hosts).interest.aspects
        yield from compared(compare(sides[0], sides[1], aspects))
        return
    if not sides:
        yield Line("verdict", _NEITHER)
    for look, end in zip(looks, ends, strict=True):
        if end is not None:
            lost = next((other.host or "" for other in looks if other.id != look.id), "")
            yield from _alone(look, end, lost)


def _alone(look: Run, end: Judged, lost: str) -> Iterator[Part]:
    yield Line("lead", f"{lost} could not be looked at, so there is no comparison. Of {look.host}:")
    yield from narrator.deployed(look.host, str(end.deployment))
    yield from narrator.verdict(end.verdict)
