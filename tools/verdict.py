"""A verdict: which of the true findings answers the question, what is ruled out, what is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tools.answered import Answer, answered, unfounded
from tools.engine import Launch, ServerInfo, ServerLog
from tools.evidence import Evidence
from tools.interest import Interest
from tools.judgement import Confirmed, RuledOut, Unchecked, judge_each
from tools.knowledge import Category
from tools.known import Known
from tools.next_test import next_test
from tools.nvidia.gpus import Gpus
from tools.physics.headroom import Headroom
from tools.probe import Probe
from tools.rule import Rule
from tools.weighing import answers, carries, doubt, weight, worth_a_test

__all__ = ["OPEN", "Interest", "Verdict", "judge", "weight"]

OPEN = "This cannot be decided from what was seen: "  # how such a headline begins
_NOTHING = "What was seen shows no cause, and is too little to say that nothing is wrong."
_MATTERS = 0.3  # a doubt from which on it is the headline, though server or GPU were not seen


@dataclass(frozen=True)
class Verdict:
    """What is said at the end. `cause` is None when no cause can be named."""

    category: Category
    cause: str | None
    headline: str
    confidence: float
    findings: tuple[Confirmed, ...]  # the cause first, then what else costs something
    asides: tuple[Confirmed, ...]  # true, and not the answer
    ruled_out: tuple[RuledOut, ...]
    unchecked: tuple[Unchecked, ...]  # the most suspicious first
    next_test: str | None  # always there where nothing is decided
    headroom: Headroom | None = None
    answers: tuple[Answer, ...] = ()  # to what the question claims


def judge(
    evidence: Sequence[Evidence],
    rules: Sequence[Rule],
    probes: Mapping[str, type[Probe[Any]]],
    interest: Interest | None = None,
    headroom: Headroom | None = None,
) -> Verdict:
    """Judge every rule on what was learned, and weigh the findings for the question asked."""
    asked = interest or Interest()
    known = Known(evidence)
    judged = judge_each(rules, known, probes)
    confirmed = [one for one in judged if isinstance(one, Confirmed)]
    confirmed.sort(key=lambda one: -weight(one, asked))
    unchecked = [one for one in judged if isinstance(one, Unchecked)]
    unchecked.sort(key=lambda one: -doubt(one, asked))
    ruled_out = [one for one in judged if isinstance(one, RuledOut)]
    ruled_out.sort(key=lambda one: answers(one, asked))
    possible = [one for one in confirmed if one.category != "workload" or not _idle(known)]
    best = carries(possible, unchecked, asked)
    costly = [one for one in confirmed if not one.benign and one is not best]
    doubtful = next((one for one in unchecked if worth_a_test(one, asked)), None)
    said = answered(asked, best, judged, known)
    return Verdict(
        category=best.category if best else "inconclusive",
        cause=best.rule.cause.id if best else None,
        headline=_headline(best, known) if best else _open(doubtful, _unseen(known), said),
        confidence=best.finding.confidence if best else 0.0,
        findings=(best, *costly) if best else tuple(costly),
        asides=tuple(one for one in confirmed if one.benign and one is not best),
        ruled_out=tuple(ruled_out),
        unchecked=tuple(unchecked),
        next_test=None if best else next_test(doubtful, unchecked, probes, asked),
        headroom=headroom,
        answers=said,
    )


def _headline(best: Confirmed, known: Known) -> str:
    """Return what is found, and of which run, where it is not the last one."""
    run = "" if best.rule.cause.stops else known.run_judged
    return run + best.finding.statement


def _open(doubtful: Unchecked | None, unseen: str, said: Sequence[Answer]) -> str:
    """Say that nothing is decided: what is not seen, what is refuted, or the doubt that is left."""
    if unseen and (doubtful is None or doubtful.suspicion < _MATTERS):
        return unseen
    if doubtful is None:
        return unfounded(said) or _NOTHING
    return f"{OPEN}{doubtful.why.rstrip('.')}."


def _idle(known: Known) -> str | None:
    """Say why a server was looked for in vain, so that no load slows one; None where one was seen."""
    if any(known.get(kind) is not None for kind in (Launch, ServerInfo, ServerLog)):
        return None
    return known.trouble(Launch)


def _unseen(known: Known) -> str:
    """Say which of the two that everything hangs on, server and GPU, was looked for in vain."""
    gpu = known.trouble(Gpus) if known.get(Gpus) is None else None
    for name, why in (("model server", _idle(known)), ("GPU", gpu)):
        if why:
            return f"No {name} was seen, so little can be judged: {why.split(': ', 1)[-1]}."
    return ""
