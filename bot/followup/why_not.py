"""A suspicion answered by name: true and how much, excluded and by what, open and how to close it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.followup.flags import field_of
from bot.followup.intent import Intent
from bot.followup.judged import about
from bot.followup.shown import short, spelled
from bot.followup.sightings import sightings
from bot.investigate import Judged
from bot.narrator import Line
from bot.narrator.unseen import could_not_check
from bot.narrator.verdict import figures
from bot.narrator.wording import lowered, spaced
from tools.judgement import Confirmed, RuledOut, Unchecked
from tools.known import Known
from tools.verdict import Interest, Verdict

_EXCLUDED_SHOWN = 5
_TRUE_SHOWN = 4


def why_not(intent: Intent, end: Judged, subject: str = "") -> Iterator[Line]:
    """Tell what the verdict says of what is suspected, or what was seen of what no rule judges.

    `subject` is what to call it, where the person's own words are too many.
    """
    found = about(end.verdict, intent)
    subject = subject or spelled(intent.text or ", ".join(sorted(intent.suspects)))
    if not found:
        yield from _unknown(subject, intent, end)
        return
    true = [one for one in found if isinstance(one, Confirmed)]
    excluded = [one for one in found if isinstance(one, RuledOut)]
    still_open = [one for one in found if isinstance(one, Unchecked)]
    yield Line("text", f"{subject}: {_in_short(true, excluded, still_open, end.verdict)}")
    for one in true[:_TRUE_SHOWN]:
        yield _true(one, end.verdict)
    yield from _not_so(excluded)
    yield from _open(still_open)


def _in_short(
    true: Sequence[Confirmed],
    excluded: Sequence[RuledOut],
    still_open: Sequence[Unchecked],
    verdict: Verdict,
) -> str:
    if any(one.rule.cause.id == verdict.cause for one in true):
        return "that is the verdict."
    counts = [
        f"{len(excluded)} excluded" if excluded else "",
        f"{len(still_open)} open" if still_open else "",
        f"{len(true)} true" if true else "",
    ]
    told = ", ".join(count for count in counts if count)
    total = len(true) + len(excluded) + len(still_open)
    hypotheses = f"of {total} hypotheses about it, {told}" if total > 1 else told
    costly = any(not one.benign for one in true)
    if costly:
        return f"it costs something, and is not the first cause; {hypotheses}."
    if still_open and not excluded and not true:
        return f"I cannot say; {hypotheses}."
    return f"not the cause as far as I can see; {hypotheses}."


def _true(one: Confirmed, verdict: Verdict) -> Line:
    cost = f" Cost: {told}." if (told := figures(one)) else ""
    statement = spaced(one.finding.statement.rstrip("."))
    if one.rule.cause.id == verdict.cause:
        return Line("item", f"{statement}.{cost}", one.evidence)
    what = "True, and not the cause" if one.benign else "True as well"
    return Line("item", f"{what}: {lowered(statement)}.{cost}", one.evidence)


def _not_so(excluded: Sequence[RuledOut]) -> Iterator[Line]:
    worded = list({one.why: one for one in reversed(excluded) if one.why}.values())[::-1]
    for one in worded[:_EXCLUDED_SHOWN]:
        yield Line("item", f"Excluded: {spaced(one.why.rstrip('.'))}.", one.evidence)
    left = len(worded) - _EXCLUDED_SHOWN
    if excluded and not worded:
        hypothesis = lowered(excluded[0].rule.hypothesis.rstrip("."))
        text = f"Excluded by what was seen: {hypothesis}."
        yield Line("item", text, excluded[0].evidence)
    elif left > 0:
        yield Line("said", f"{left} more {'reason' if left == 1 else 'reasons'} of that kind.")


def _open(still_open: Sequence[Unchecked]) -> Iterator[Line]:
    for line in could_not_check(still_open, Interest()):
        if line.kind == "item":
            yield Line("item", f"Open: {lowered(line.text)}", line.cites)


def _unknown(subject: str, intent: Intent, end: Judged) -> Iterator[Line]:
    words = field_of(intent, Known(end.evidence)) or intent.text
    seen = list(sightings(words, end))
    yield Line(
        "text", f"No rule of mine judges {short(intent.text or subject)}, so I cannot exclude it."
    )
    if not seen:
        yield Line("text", "None of the looks of this case speaks of it either.")
        return
    yield Line("text", "What I saw of it:")
    yield from seen
