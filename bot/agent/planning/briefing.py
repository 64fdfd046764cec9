"""What is known so far, in few words: the question, a line for each look, what the rules make of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from bot.agent.planning.fence import Fence
from bot.investigate import Judged
from bot.narrator.briefs import brief
from bot.narrator.verdict import figures
from bot.narrator.wording import spaced
from bot.question import Question
from tools.engine import Claim
from tools.evidence import Evidence
from tools.judgement import Confirmed, Unchecked
from tools.probe import Facts

QUESTION = 800  # characters of what a person asked
LOOK = 140  # of what one look taught
LOOKS = 6000  # of all looks together
JUDGED = 2600  # of what the rules say
_FINDINGS, _OPEN, _EXCLUDED = 3, 4, 6
_SENTENCE, _ASIDE = 190, 150


def briefing(question: Question, end: Judged, fence: Fence) -> str:
    """Return question, looks and judgement so far for a model; each of the three is fenced."""
    known = "\n".join(look_line(look) for look in end.evidence)
    return "\n".join((
        fence.around("the question", question.text or "none", QUESTION),
        fence.around("looks", f"{end.deployment}\n{known}", LOOKS),
        fence.around("what the rules say", "\n".join(_judged(end)), JUDGED),
    ))  # fmt: skip


def look_line(look: Evidence) -> str:
    """Return one look as one line: id, which question, what came back."""
    return f"{look.id} {look.title}: {_short(said_by(look), LOOK)}"


def said_by(look: Evidence) -> str:
    """Return what a look taught in one line, or why it taught nothing."""
    if look.trouble:
        return f"no facts: {look.trouble}"
    facts = look.facts
    if isinstance(facts, Claim):
        return f"the person says: now {facts.now_tok_s} tok/s, before {facts.before_tok_s} tok/s"
    return (brief(facts) or _bare(facts)) if facts else "nothing"


def _bare(facts: Facts) -> str:
    """Return facts that nobody reads out as they are, without what is not told."""
    told = facts.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))[: 2 * LOOK]


def _judged(end: Judged) -> Iterator[str]:
    verdict = end.verdict
    yield f"Verdict so far: {verdict.category}: {verdict.headline} (confidence {verdict.confidence:.2f})"
    for one in verdict.findings[:_FINDINGS]:
        yield f"true: {_finding(one)}"
    for one in verdict.asides[:2]:
        yield f"true, costs nothing: {_short(one.finding.statement, _ASIDE)} {_ids(one.evidence)}"
    for open_one in _told_first(verdict.unchecked)[:_OPEN]:
        yield f"open: {_open(open_one)}"
    excluded = [one.rule.cause.id for one in verdict.ruled_out if one.why][:_EXCLUDED]
    if excluded:
        more = len(verdict.ruled_out) - len(excluded)
        yield f"excluded: {', '.join(excluded)}{f' and {more} more' if more > 0 else ''}"
    if verdict.next_test:
        yield f"next test for a person: {_short(verdict.next_test, _SENTENCE)}"


def _finding(one: Confirmed) -> str:
    cost = f" Cost: {told.split(', by ')[0]}." if (told := figures(one)) else ""
    statement = _short(spaced(one.finding.statement), _SENTENCE)
    return f"{one.rule.cause.id}: {statement}{cost} {_ids(one.evidence)}"


def _told_first(unchecked: Sequence[Unchecked]) -> list[Unchecked]:
    """Return the doubts with a reason before those that merely lack a look."""
    return sorted(unchecked, key=lambda one: bool(one.missing))


def _open(one: Unchecked) -> str:
    how = f" (settled by: {_short(one.how, 60)})" if one.how else ""
    return f"{one.rule.cause.id}: {_short(one.why, 120)}{how}"


def _ids(evidence: Sequence[str]) -> str:
    return " ".join(evidence[:6])


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
