"""What set the flags that are not as they were asked: the line, on what terms, and what is known to go wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bot.narrator.briefs import brief
from bot.narrator.line import Line
from bot.narrator.wording import raised
from tools.engine.source_tree import SourceTexts

if TYPE_CHECKING:
    from bot.source.parted import Parted
    from tools.provenance.answer import FlagAnswer

HEADING = "What set it"
_TRAP = " Known trap"  # as tools/provenance/trapped.py begins each


def what_set_it(parted: Parted | None) -> Iterator[Line]:
    """Tell the flags that matter most, each with the line of the engine's source; count the rest."""
    if parted is None or not (parted.told or parted.unfollowed):
        return
    yield Line("heading", HEADING)
    if parted.unfollowed:
        yield Line("said", f"The engine's source was not followed: {parted.unfollowed}.")
        return
    told: set[str] = set()
    for one in parted.flags[: parted.told]:
        yield from of_flag(one, parted.look, told)
    more = len(parted.flags) - parted.told
    known = f"Not known here: {'; '.join(parted.unseen)}. " if parted.unseen else ""
    many = "flags are" if more > 1 else "flag is"
    rest = f"{more} more {many} neither as asked nor at a default: --json lists them."
    if text := known + (rest if more else ""):
        yield Line("said", text.strip())


def of_flag(one: FlagAnswer, look: str, told: set[str]) -> Iterator[Line]:
    """Tell one flag, and the first of its traps that was not `told`, which is added to it."""
    said, *traps = one.sentence.split(_TRAP)
    yield Line("item", said, (look,))
    new = next((trap for trap in traps if trap not in told), None)
    if new is not None:
        told.add(new)
        yield Line("item", raised(f"{_TRAP.strip()}{new}"))


@brief.register
def _(facts: SourceTexts) -> str:
    files = sum(map(bool, facts.contents.values()))
    return f"{files} files{', the parts that were followed' if facts.parts else ''}"
