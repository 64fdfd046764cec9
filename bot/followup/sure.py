"""How sure the verdict is and what would make it surer; and all that could not be checked."""

from __future__ import annotations

from collections.abc import Iterator

from bot.followup.shown import ordered
from bot.investigate import Judged
from bot.narrator import Line
from bot.narrator.unseen import could_not_check
from bot.narrator.verdict import sure as in_a_word
from bot.narrator.wording import lowered, spaced, unnamed
from tools.judgement import Confirmed, Unchecked
from tools.verdict import Interest

_PROVES, _STRONG = 0.9, 0.7  # tools/rule.py: a look that proves, strong, leaning
_NAMED = 12  # hypotheses that are listed by name


def sure(end: Judged) -> Iterator[Line]:
    """Tell the confidence in words and figures, what it rests on, and what would raise it."""
    verdict = end.verdict
    if verdict.cause is None:
        yield Line("text", f"I decided nothing: {lowered(spaced(verdict.headline))}")
        if verdict.next_test:
            yield Line("test", unnamed(verdict.next_test))
        return
    best = verdict.findings[0]
    yield Line(
        "text",
        f"Confidence {in_a_word(verdict.confidence)} ({verdict.confidence:.2f} of 1) in the cause:"
        f" {_kind(verdict.confidence)}.",
        best.evidence,
    )
    if best.finding.effect.source:
        yield Line(
            "text",
            f"The figures are less sure than the cause: they come from {best.finding.effect.source}.",
        )
    check = best.finding.verify or best.rule.cause.verify
    if check not in ("", "-"):
        yield Line("item", f"What would prove it: {lowered(spaced(check.rstrip('.')))}.")
    yield from _rivals(end, best)


def unchecked(end: Judged) -> Iterator[Line]:
    """Tell what is open: why, and how it would be seen."""
    still_open = end.verdict.unchecked
    if not still_open:
        yield Line("text", "Nothing is open: every hypothesis of mine was judged.")
        return
    yield Line(
        "text",
        f"{len(still_open)} of my hypotheses are open.",
        ordered(look for one in still_open for look in one.evidence),
    )
    told = [line for line in could_not_check(still_open, Interest()) if line.kind == "item"]
    yield from told
    names = [_name(one) for one in still_open if not any(_name(one) in line.text for line in told)]
    if names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield Line("text", f"Also open, whether: {'; '.join(names[:_NAMED])}{more}.")
    yield Line(
        "said", "Paste what such a command prints into this thread, and I judge it with the rest."
    )


def _kind(confidence: float) -> str:
    if confidence >= _PROVES:
        return "a look shows it directly"
    return (
        "the signs are strong, no look proves it"
        if confidence >= _STRONG
        else "it is what fits best"
    )


def _rivals(end: Judged, best: Confirmed) -> Iterator[Line]:
    open_yet = [one for one in end.verdict.unchecked if one.suspicion > 0]
    if not open_yet:
        yield Line("item", "Nothing that is open speaks against it.")
        return
    strongest = open_yet[0]
    how = f" To check: {lowered(strongest.how.rstrip('.'))}." if strongest.how else ""
    yield Line(
        "item",
        f"Open, and the strongest doubt beside it ({strongest.suspicion:.2f} against"
        f" {best.finding.confidence:.2f}): whether {_name(strongest)}; {spaced(strongest.why.rstrip('.'))}.{how}",
        strongest.evidence,
    )


def _name(one: Unchecked) -> str:
    return lowered(one.rule.hypothesis.rstrip("."))
