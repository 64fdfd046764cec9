"""The verdict as a story: the cause and what it costs first, then everything for who wants it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from bot.narrator.line import Line, Part
from bot.narrator.measured import measured, percent
from tools.judgement import Confirmed, RuledOut, Unchecked
from tools.rule import Interval
from tools.verdict import Verdict

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
_WORDED_SHOWN = 14
_REASONS_SHOWN = 6
_NAMES_SHOWN = 3
_QUOTES_SHOWN = 4


def verdict(judged: Verdict) -> Iterator[Part]:
    """Tell the verdict."""
    best = judged.findings[0] if judged.findings and judged.cause else None
    cites = best.evidence if best else ()
    lead = f"{CATEGORIES[judged.category]}: {judged.headline.rstrip('.')}."
    yield Line("verdict", f"{lead} {_cost_in_short(best)}".strip() if best else lead, cites)
    if best:
        figures = f" In figures: {told}." if (told := _figures(best)) else ""
        yield Line("text", f"Confidence {_sure(judged.confidence)}.{figures}")
        for quote in best.finding.quotes[:_QUOTES_SHOWN]:
            yield Line("said", quote)
    if judged.headroom:
        yield from measured(judged.headroom)
    if best:
        yield from _todo(best)
    if judged.next_test:
        look = judged.next_test.startswith("Let me ")  # it helps, and may not decide
        yield Line("heading", "What to look at next" if look else "The one test that decides")
        yield Line("item", judged.next_test)
    yield from _also("Also found", judged.findings[1:] if best else judged.findings)
    yield from _also("True, and not the cause", judged.asides)
    yield from _not_the_cause(judged.ruled_out)
    yield from _could_not_check(judged.unchecked)


def _sure(confidence: float) -> str:
    return "high" if confidence >= 0.85 else "medium" if confidence >= 0.65 else "low"


def _losses(found: Confirmed) -> list[tuple[str, Interval]]:
    """Return what is slowed and by how much, the largest loss first."""
    effect = found.finding.effect
    named = (("decode", effect.decode_pct), ("prefill", effect.prefill_pct))
    told = [(name, pct) for name, pct in named if pct and any(pct)]
    return sorted(told, key=lambda loss: loss[1][1])


def _cost_in_short(found: Confirmed) -> str:
    costs = [f"{name} about {-pct[1]:.0f} %" for name, pct in _losses(found) if pct[1] <= -0.5]
    return f"It costs {' and '.join(costs)}." if costs else ""


def _figures(found: Confirmed) -> str:
    losses = [f"{name} {percent(pct)}" for name, pct in _losses(found)]
    source = found.finding.effect.source
    return " and ".join(losses) + (f", by {source}" if losses and source else "")


def _todo(found: Confirmed) -> Iterator[Line]:
    finding, cause = found.finding, found.rule.cause
    steps = [step for step in finding.remedy or cause.remedy if step != "none"]
    steps = [_NO_STEP.sub("Nothing needs repair", step) for step in steps]
    if not steps:
        return
    yield Line("heading", "What to do")
    for number, step in enumerate(steps, start=1):
        yield Line("item", f"{number}. {step}")
    for name, text in (
        ("Risk", finding.risk or cause.risk),
        ("Verify", finding.verify or cause.verify),
    ):
        if text and text not in ("none", "-"):
            yield Line("text", f"{name}: {text.rstrip('.')}.")


def _also(heading: str, found: Sequence[Confirmed]) -> Iterator[Line]:
    if found:
        yield Line("heading", heading)
    for one in found:
        cost = f" It costs {told}." if (told := _figures(one)) else ""
        yield Line("item", f"{one.finding.statement.rstrip('.')}.{cost}", one.evidence)


def _not_the_cause(ruled_out: Sequence[RuledOut]) -> Iterator[Line]:
    """Tell first what answers a suspicion, then the graver causes; count the rest."""
    worded = list({one.why: one for one in reversed(ruled_out) if one.why}.values())[::-1]
    shown = worded[:_WORDED_SHOWN]
    if ruled_out:
        yield Line("heading", "Not the cause, and why")
    for one in shown:
        yield Line("item", f"{one.why[0].upper()}{one.why[1:].rstrip('.')}.", one.evidence)
    if left := len(ruled_out) - len(shown):
        yield Line(
            "said", f"{left} more hypotheses are excluded by what was seen; --json lists them."
        )


def _could_not_check(unchecked: Sequence[Unchecked]) -> Iterator[Line]:
    reasons = _by_reason(unchecked)
    if reasons:
        yield Line("heading", "Could not check")
    for group in reasons[:_REASONS_SHOWN]:
        names = [one.rule.cause.id for one in group]
        more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
        how = group[0].how if not group[0].missing else ""
        check = f" To check: {how.rstrip('.')}." if how else ""
        why = group[0].why.rstrip(".")
        yield Line("item", f"{', '.join(names[:_NAMES_SHOWN])}{more}: {why}.{check}")
    if left := sum(len(group) for group in reasons[_REASONS_SHOWN:]):
        yield Line("said", f"{left} more wait for other looks; --json lists what each would need.")


def _by_reason(unchecked: Iterable[Unchecked]) -> list[list[Unchecked]]:
    """Group hypotheses that wait for the same thing: refused looks first, looks nobody took last."""
    groups: dict[str, list[Unchecked]] = {}
    for one in unchecked:
        groups.setdefault(one.why, []).append(one)
    return sorted(
        groups.values(), key=lambda group: (_kind(group[0]), -group[0].suspicion, -len(group))
    )


def _kind(one: Unchecked) -> int:
    if not one.missing:
        return 1
    return 2 if one.why.startswith("nothing tells") else 0
