"""Two investigations side by side: what differs, ranked by what it costs; noise is left out."""

from __future__ import annotations

from collections.abc import Iterator

from bot.followup.differences import Difference, differences
from bot.investigate import Judged
from bot.narrator import CATEGORIES, Line, Part, Table
from bot.narrator.wording import lowered, spaced
from tools.judgement import Confirmed

_ROWS = 10
_NAMED = 8
_SAME_NAMED = 6


def compare(
    end: Judged, other: Judged | None, names: tuple[str, str], *, again: bool = False
) -> Iterator[Part]:
    """Tell how two cases differ. `names` are what they are called, this one first."""
    if other is None:
        yield Line("text", _nothing_to_compare(again=again))
        return
    here, there = names
    found, same = differences(end, other, names)
    yield Line("text", _rates(found, here, there), _cited(end))
    yield Line("item", f"{here}: {_verdict(end)}", _cited(end))
    yield Line("item", f"{there}: {_verdict(other)}")
    if not found:
        yield Line("text", "Nothing that bears on speed differs in what was seen of both.")
        return
    yield Table(("", here, there, "costs"), tuple(_row(one) for one in found[:_ROWS]))
    if left := found[_ROWS:]:
        shown = ", ".join(one.what for one in left[:_NAMED])
        more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
        yield Line("said", f"Also different, at no cost that is known: {shown}{more}.")
    yield from _alone(end, other, here, there)
    if same:
        more = f" and {len(same) - _SAME_NAMED} more" if len(same) > _SAME_NAMED else ""
        yield Line("said", f"The same: {', '.join(same[:_SAME_NAMED])}{more}.")


def _nothing_to_compare(*, again: bool) -> str:
    if again:
        return "Looked again; there is no earlier look to compare it with."
    return "I have nothing to compare it with: ask me about the other host first, or “check again” for a second look."


def _rates(found: tuple[Difference, ...], here: str, there: str) -> str:
    rates = [one for one in found if one.measured]
    told = "; ".join(f"{one.what} {one.here} against {one.there}" for one in rates[:3])
    return f"{here} against {there}: {told or 'no measured rate differs'}."


def _verdict(end: Judged) -> str:
    verdict = end.verdict
    headline = spaced(verdict.headline.rstrip("."))
    return f"{CATEGORIES[verdict.category]}: {headline}."


def _cited(end: Judged) -> tuple[str, ...]:
    return end.verdict.findings[0].evidence if end.verdict.cause else ()


def _row(one: Difference) -> tuple[str, str, str, str]:
    return (one.what, one.here or "not seen", one.there or "not seen", one.cost)


def _alone(end: Judged, other: Judged, here: str, there: str) -> Iterator[Line]:
    """Tell the costly findings that only one of the two has."""
    mine, theirs = _costly(end), _costly(other)
    for cause, one in mine.items():
        if cause not in theirs:
            text = f"Only on {here}: {lowered(spaced(one.finding.statement.rstrip('.')))}."
            yield Line("item", text, one.evidence)
    for cause, one in theirs.items():
        if cause not in mine:
            yield Line(
                "item", f"Only on {there}: {lowered(spaced(one.finding.statement.rstrip('.')))}."
            )
    for cause in mine.keys() & theirs.keys():
        text = f"On both alike: {lowered(_first_words(mine[cause]))}."
        yield Line("said", text, mine[cause].evidence)


def _first_words(one: Confirmed) -> str:
    return spaced(one.finding.statement).split(": ")[0].rstrip(".")


def _costly(end: Judged) -> dict[str, Confirmed]:
    return {
        one.rule.cause.id: one
        for one in end.verdict.findings
        if not one.benign and one.category != "at_ceiling"
    }
