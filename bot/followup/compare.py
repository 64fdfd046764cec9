"""Two investigations side by side, as a follow-up asks for it: another host, or an earlier look at this one."""

from __future__ import annotations

from collections.abc import Iterator

from bot.investigate import Judged
from bot.narrator import Line, Part
from bot.narrator.compared import compared
from bot.question import Question
from tools.comparison import Side, compare

_NOT_AGAIN = "Looked again; there is no earlier look to compare it with."
_NOTHING = "I have nothing to compare it with: ask me about the other host first, or “check again” for a second look."


def side_by_side(
    end: Judged,
    other: Judged | None,
    names: tuple[str, str],
    asked: str = "",
    *,
    again: bool = False,
) -> Iterator[Part]:
    """Tell how two cases differ. `names` are what they are called, this one first; `asked` is how it was put."""
    if other is None:
        yield Line("text", _NOT_AGAIN if again else _NOTHING)
        return
    here, there = (
        Side(name, one.evidence, one.verdict) for name, one in zip(names, (end, other), strict=True)
    )
    yield from compared(compare(here, there, Question.of(asked).interest.aspects))
