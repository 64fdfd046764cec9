"""The verdict as a story: the cause and what it costs first, then everything for who wants it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bot.narrator.answers import not_the_cause
from bot.narrator.explained import Explanation, explained, supposed
from bot.narrator.line import Line, Part
from bot.narrator.measured import measured, percent
from bot.narrator.set_by import what_set_it
from bot.narrator.unseen import could_not_check
from bot.narrator.wording import raised, spaced, unnamed
from tools.judgement import Confirmed
from tools.physics.headroom import Headroom
from tools.rule import Interval
from tools.verdict import OPEN, Interest, Verdict
from tools.weighing import why_not

if TYPE_CHECKING:
    from bot.source.parted import Parted

CATEGORIES = {
    "hardware": "Hardware",
    "config": "Configuration",
    "software_bug": "Software bug",
    "workload": "Workload",
    "at_ceiling": "At the ceiling",
    "no_fault": "Nothing is wrong here",
    "inconclusive": "Not decided",
}
_NO_STEP = re.compile(r"^none\b")  # a remedy of the catalogue that says what to do instead
_QUOTES_SHOWN = 4
_CLAIMS_SHOWN = 3


def verdict(
    judged: Verdict,
    asked: Interest | None = None,
    explanation: Explanation | None = None,
    parted: Parted | None = None,
) -> Iterator[Part]:
    """Tell the verdict; what the person asked about is answered by name.

    `explanation` is what a model added: its sentences follow the figures, its ideas what is certain.
    `parted` is what the engine's source says of flags that are not as they were asked.
    """
    asked = asked or Interest()
    best = judged.findings[0] if judged.findings and judged.cause else None
    if best:
        yield from _cause(judged, best)
    else:
        yield Line("verdict", _lead(judged))
    yield from _claims(judged)
    if judged.headroom:
        yield from measured(judged.headroom)
    yield from explained(explanation)
    if best:
        yield from todo(best)
    yield from _next(judged.next_test)
    yield from _also("Also found", _others(judged, best), asked)
    yield from _also("True, and not the cause", judged.asides, asked)
    yield from what_set_it(parted)
    yield from supposed(explanation)
    yield from not_the_cause(judged.ruled_out, asked)
    open_yet = [one for one in judged.unchecked if one.why.rstrip(".") not in judged.headline]
    yield from could_not_check(open_yet, asked)


def _lead(judged: Verdict) -> str:
    headline = judged.headline.removeprefix(OPEN).rstrip(".")
    return f"{CATEGORIES[judged.category]}: {spaced(headline)}."


def _cause(judged: Verdict, best: Confirmed) -> Iterator[Line]:
    trust = f"Confidence {sure(judged.confidence)}."
    lead = " ".join(filter(None, (_lead(judged), _cost_in_short(best), trust)))
    yield Line("verdict", lead, best.evidence)
    told = "" if _in_the_table(best, judged.headroom) else figures(best)
    if told:
        yield Line("text", f"In figures: {told}.")
    for quote in best.finding.quotes[:_QUOTES_SHOWN]:
        yield Line("said", quote)


def _claims(judged: Verdict) -> Iterator[Line]:
    """Answer what the person said, unless the headline has done so."""
    told = [one for one in judged.answers if not one.against or one.against not in judged.headline]
    for one in told[:_CLAIMS_SHOWN]:
        yield Line("text", f"{raised(spaced(one.text.rstrip('.')))}.", one.evidence)


def _next(test: str | None) -> Iterator[Line]:
    if test:
        look = test.startswith("Let me ")  # it helps, and may not decide
        yield Line("heading", "What to look at next" if look else "The one test that decides")
        yield Line("test" if " --" in test else "item", unnamed(test))


def _others(judged: Verdict, best: Confirmed | None) -> tuple[Confirmed, ...]:
    """Return what else is true; the table of the headroom has said how near the ceiling is."""
    others = judged.findings[1:] if best else judged.findings
    return tuple(one for one in others if not (judged.headroom and one.category == "at_ceiling"))


def sure(confidence: float) -> str:
    """Name a confidence in a word."""
    return "high" if confidence >= 0.85 else "medium" if confidence >= 0.65 else "low"


def _in_the_table(best: Confirmed, room: Headroom | None) -> bool:
    """Say whether the table of what was measured shows this loss already."""
    cost = room.link_cost if room else None
    return cost is not None and cost.source == best.finding.effect.source


def _losses(found: Confirmed) -> list[tuple[str, Interval]]:
    """Return what is slowed and by how much, the largest loss first."""
    effect = found.finding.effect
    named = (("decode", effect.decode_pct), ("prefill", effect.prefill_pct))
    told = [(name, pct) for name, pct in named if pct and any(pct)]
    return sorted(told, key=lambda loss: loss[1][1])


def _cost_in_short(found: Confirmed) -> str:
    costs = [f"{name} about {-pct[1]:.0f} %" for name, pct in _losses(found) if pct[1] <= -0.5]
    return f"It costs {' and '.join(costs)}." if costs else ""


def figures(found: Confirmed) -> str:
    """Tell what a finding costs, the largest loss first, and by what that is known."""
    losses = [f"{name} {percent(pct)}" for name, pct in _losses(found)]
    source = found.finding.effect.source
    return " and ".join(losses) + (f", by {source}" if losses and source else "")


def todo(found: Confirmed) -> Iterator[Line]:
    """Tell what to do about a finding, what that risks and how it is verified."""
    finding, cause = found.finding, found.rule.cause
    steps = [step for step in finding.remedy or cause.remedy if step != "none"]
    steps = [_NO_STEP.sub("Nothing needs repair", step) for step in steps]
    if not steps:
        return
    yield Line("heading", "What to do")
    for number, step in enumerate(steps, start=1):
        yield Line("item", f"{number}. {step.rstrip('.')}.")
    for name, text in (
        ("Risk", finding.risk or cause.risk),
        ("Verify", finding.verify or cause.verify),
    ):
        if text and text not in ("none", "-"):
            yield Line("text", f"{name}: {text.rstrip('.')}.")


def _also(heading: str, found: Sequence[Confirmed], asked: Interest) -> Iterator[Line]:
    if found:
        yield Line("heading", heading)
    for one in found:
        cost = f" Cost: {told}." if (told := figures(one)) else ""
        why = f" Not the answer: {told}." if (told := why_not(one, asked)) else ""
        yield Line("item", f"{spaced(one.finding.statement.rstrip('.'))}.{cost}{why}", one.evidence)
