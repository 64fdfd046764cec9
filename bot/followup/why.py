"""How the verdict follows: what shows it, what else was weighed, and what to do."""

from __future__ import annotations

from collections.abc import Iterator

from bot.investigate import Judged
from bot.narrator import CATEGORIES, Line, title
from bot.narrator import verdict as verdict_parts
from bot.narrator.briefs import brief
from bot.narrator.verdict import figures
from bot.narrator.verdict import todo as steps
from bot.narrator.wording import lowered, spaced
from tools.evidence import Evidence
from tools.judgement import Confirmed
from tools.verdict import Verdict

_LOOKS_SHOWN = 6
_LOST_SHOWN = 3
_QUOTES_SHOWN = 4
_GRAVE = ("critical", "major", "moderate", "minor", "info", "benign")


def why(end: Judged) -> Iterator[Line]:
    """Tell what the verdict rests on, look by look, and why nothing else came first."""
    verdict = end.verdict
    if verdict.cause is None:
        yield from _undecided(verdict)
        return
    best = verdict.findings[0]
    yield Line("text", f"{CATEGORIES[verdict.category]}: {_statement(best)}", best.evidence)
    for quote in best.finding.quotes[:_QUOTES_SHOWN]:
        yield Line("said", quote)
    yield Line("heading", "What shows it")
    shown = [one for one in end.evidence if one.id in best.evidence]
    for look in shown[:_LOOKS_SHOWN]:
        yield _look(look)
    if told := figures(best):
        yield Line("text", f"What it costs: {told}.")
    yield from _lost(verdict, best)
    yield from _excluded(verdict)


def todo(end: Judged) -> Iterator[Line]:
    """Tell the steps of the remedy, or the test that decides."""
    verdict = end.verdict
    if verdict.cause is None:
        yield from _undecided(verdict)
        return
    lines = list(steps(verdict.findings[0]))
    if not lines:
        yield Line("text", "Nothing needs to be done: nothing that was seen is wrong.")
        return
    for line in lines:
        if line.kind == "heading":
            yield Line(
                "text",
                f"About this: {_statement(verdict.findings[0])}",
                verdict.findings[0].evidence,
            )
        else:
            yield line
    for one in verdict.findings[1:]:
        remedy = one.finding.remedy or one.rule.cause.remedy
        if figures(one) and remedy and remedy[0] != "none":
            told = f"{_statement(one)} {spaced(remedy[0].rstrip('.'))}."
            yield Line("item", f"Beside it: {lowered(told)}", one.evidence)


def _undecided(verdict: Verdict) -> Iterator[Line]:
    yield Line("text", f"{CATEGORIES[verdict.category]}: {spaced(verdict.headline.rstrip('.'))}.")
    parts = list(verdict_parts(verdict))
    heads = ("The one test that decides", "What to look at next")
    for at, part in enumerate(parts):
        if isinstance(part, Line) and part.kind == "heading" and part.text in heads:
            yield part
            yield from (one for one in parts[at + 1 : at + 2] if isinstance(one, Line))


def _statement(one: Confirmed) -> str:
    return f"{spaced(one.finding.statement.rstrip('.'))}."


def _look(look: Evidence) -> Line:
    said = brief(look.facts) if look.facts else look.trouble
    return Line("item", f"{title(look.probe)}: {said}" if said else title(look.probe), (look.id,))


def _lost(verdict: Verdict, best: Confirmed) -> Iterator[Line]:
    others = [one for one in verdict.findings[1:] if one.category != "at_ceiling"]
    if others:
        yield Line("heading", "What else is true, and why it came second")
    for one in others[:_LOST_SHOWN]:
        cost = f" It costs {told}." if (told := figures(one)) else ""
        yield Line("item", f"{_statement(one)}{cost} {_second(one, best)}", one.evidence)


def _second(one: Confirmed, best: Confirmed) -> str:
    ranks = (_GRAVE.index(each.rule.cause.severity) for each in (best, one))
    if next(ranks) < next(ranks):
        return f"It is {one.rule.cause.severity}, the verdict's cause {best.rule.cause.severity}."
    if one.finding.confidence < best.finding.confidence:
        return "It is less certain."
    return "It explains less of what was asked."


def _excluded(verdict: Verdict) -> Iterator[Line]:
    benign = sum(one.benign for one in verdict.asides)
    counts = [
        f"{len(verdict.ruled_out)} hypotheses are excluded by what was seen",
        f"{benign} findings are true and no cause" if benign else "",
        f"{len(verdict.unchecked)} hypotheses could not be checked" if verdict.unchecked else "",
    ]
    told = ", ".join(count for count in counts if count)
    yield Line("text", f"{told}. Ask me about any: “why not NCCL?”")
