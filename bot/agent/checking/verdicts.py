"""Every line of a verdict by itself: what it is, what it found and costs, what it excludes, and what is open."""

from __future__ import annotations

from collections.abc import Iterator

from bot.agent.checking.ground import Ground, Kind
from bot.agent.checking.joints import pieces
from bot.agent.checking.stems import stems
from bot.narrator import CATEGORIES
from bot.narrator.answers import TOPICS
from bot.narrator.verdict import figures as costs
from bot.narrator.verdict import sure
from bot.narrator.wording import spaced, unnamed
from tools.judgement import Confirmed
from tools.rule import Interval
from tools.verdict import Verdict

_FAULTLESS = ("no_fault", "at_ceiling")  # verdicts that find a cause and blame nothing


def lines(verdict: Verdict) -> Iterator[Ground]:
    """Yield the lines of a verdict; those of one cause belong together."""
    best = verdict.findings[0] if verdict.findings and verdict.cause else None
    yield from _named(verdict, best)
    for one in verdict.findings:
        yield from _finding(one, "cause" if one is best else "true")
    for one in verdict.asides:
        yield from _finding(one, "benign")
    yield from _excluded(verdict)
    yield from _open(verdict)
    if verdict.next_test:
        yield Ground(unnamed(verdict.next_test), "todo")
    excluded, still_open = len(verdict.ruled_out), len(verdict.unchecked)
    yield Ground(f"{excluded} hypotheses are excluded by what was seen", "figure")
    yield Ground(f"{still_open} hypotheses are open, they could not be checked", "figure")


def _named(verdict: Verdict, best: Confirmed | None) -> Iterator[Ground]:
    cited = frozenset(best.evidence) if best else frozenset[str]()
    trust = f" with {sure(verdict.confidence)} confidence" if best else ""
    told = [f"{CATEGORIES[verdict.category]}: {spaced(verdict.headline)}"]
    for name in (verdict.category.replace("_", " "), CATEGORIES[verdict.category].lower()):
        told.append(f"The verdict is {name}{trust}")
    if best:
        told.append(f"Confidence {sure(verdict.confidence)} ({verdict.confidence:.2f} of 1)")
        name = TOPICS.get(best.rule.cause.layer, "")
        if name and verdict.category not in _FAULTLESS:
            told += [f"The cause is {name}", f"{name} is the cause"]
    yield from (Ground(text, "cause", cited) for text in told)


def _excluded(verdict: Verdict) -> Iterator[Ground]:
    for gone in verdict.ruled_out:
        looks, cause, why = frozenset(gone.evidence), gone.rule.cause, spaced(gone.why)
        hypothesis = gone.rule.hypothesis.rstrip(".")
        yield Ground(f"{hypothesis} is excluded", "excluded", looks, cause.id, "gone")
        if why:
            yield Ground(why, "look", looks, cause.id, "why")
            if name := TOPICS.get(cause.id) or TOPICS.get(cause.layer):
                yield Ground(f"{name}: {why}", "look", looks, cause.id, "why")


def _open(verdict: Verdict) -> Iterator[Ground]:
    for still in verdict.unchecked:
        looks, of, why = frozenset(still.evidence), still.rule.cause.id, spaced(still.why)
        told = f"Could not check whether {still.rule.hypothesis.rstrip('.')}: {why}"
        yield Ground(told, "open", looks, of, "open")
        yield Ground(why, "look", looks, of, "why")
        if still.how:
            yield Ground(f"To check: {still.how}", "todo", looks, of)


def _finding(one: Confirmed, kind: Kind) -> Iterator[Ground]:
    finding, cause, looks = one.finding, one.rule.cause, frozenset(one.evidence)
    for state in (spaced(finding.statement), one.rule.hypothesis, *finding.quotes):
        yield Ground(state, kind, looks, cause.id, "state")
    about = stems(pieces(finding.statement)[0].of(finding.statement))
    for cost in _costs(one):
        yield Ground(cost, kind, looks, cause.id, "cost", about)
    for step in (*finding.remedy, *cause.remedy):
        yield Ground(spaced(step), "todo", looks, cause.id, "step", about)
    for name, texts in (
        ("Risk", (finding.risk, cause.risk)),
        ("Verify", (finding.verify, cause.verify)),
    ):
        for text in filter(None, texts):
            yield Ground(f"{name}: {spaced(text)}", "todo", looks, cause.id)


def _costs(one: Confirmed) -> Iterator[str]:
    """Yield what a finding costs: each phase, and which of both more."""
    effect = one.finding.effect
    lost = {
        phase: pct
        for phase, pct in (("decode", effect.decode_pct), ("prefill", effect.prefill_pct))
        if pct and pct[1] < 0
    }
    for phase, pct in lost.items():
        yield from _cost(phase, pct)
    if len(lost) > 1:
        least, most = sorted(lost, key=lambda phase: -lost[phase][1])
        if lost[most][2] < lost[least][0]:  # the intervals do not touch
            yield f"It costs {most} more than {least}"
            yield f"It costs {most} most and {least} little"
            yield f"{most} loses most and {least} little"
            yield f"It costs {least} less than {most}"
    if told := costs(one):
        yield f"It costs {told}"


def _cost(phase: str, pct: Interval) -> Iterator[str]:
    for decimals in (0, 1):
        yield f"It costs {phase} about {-pct[1]:.{decimals}f} %"
        yield f"{phase} loses about {-pct[1]:.{decimals}f} %"
        low, high = (f"{-pct[end]:.{decimals}f}" for end in (2, 0))
        yield f"It costs {phase} {low} to {high} %"
