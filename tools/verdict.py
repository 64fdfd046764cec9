"""A verdict: which of the true findings answers the question, what is ruled out, what is open.

Weighing is arithmetic on what rules say, so that it can be read and argued with: confidence x how
grave the cause is x what it costs x how much it explains of what was asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tools.engine import Launch, ServerInfo, ServerLog
from tools.evidence import Evidence
from tools.judgement import Confirmed, RuledOut, Unchecked, judge_each
from tools.knowledge import Category
from tools.known import Known
from tools.nvidia.gpus import Gpus
from tools.physics.headroom import Headroom
from tools.probe import Probe
from tools.rule import Aspect, Rule

OPEN = "This cannot be decided from what was seen: "  # how such a headline begins
_LIKE = re.compile(r"Like: (.+)")  # what a person would type, by the docstring of a probe
_GRAVE = {"critical": 1.0, "major": 0.85, "moderate": 0.7, "minor": 0.5, "info": 0.5, "benign": 0.5}
_DECIDES = 0.25  # a weight below it does not carry a verdict
_BESIDE_THE_QUESTION = 0.45  # for what explains nothing of what was asked
_SUSPECTED = 1.25  # for what the person suspects: a claim deserves its answer
_ON_PURPOSE = 0.3  # for what the person has chosen and says so
_UNASKED_ODDITY = 0.6  # for what is true, costs nothing, and was not asked about
_BROAD = "sglang"  # a layer so wide that suspecting it ("which flag?") raises no oddity of its own
_FAINT = 0.1  # a doubt below it is no test to send a person for
_MATTERS = 0.3  # a doubt from which on it is the headline, though server or GPU were not seen
_DEAR_PCT = 40.0  # a loss that weighs fully
_CHEAP = 0.6  # weight of a loss next to nothing


@dataclass(frozen=True)
class Interest:
    """What the person wants to know: which aspects of serving, and what they suspect.

    `suspects` holds layers and ids of the catalogue ("pcie", "nccl", "cuda_graph_disabled");
    `intended` those that the person says are so on purpose.
    """

    aspects: frozenset[Aspect] = frozenset()
    suspects: frozenset[str] = frozenset()
    intended: frozenset[str] = frozenset()

    @property
    def stopped(self) -> bool:
        """Say whether it is about a server that does not run at all."""
        return bool(self.aspects & {"start", "crash"})

    def in_cause(self, rule: Rule) -> bool:
        """Say whether the cause of a rule is suspected."""
        return bool(self.suspects & {rule.cause.id, rule.cause.layer})


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
    next_test: str | None
    headroom: Headroom | None = None


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
    unchecked.sort(key=lambda one: -_doubt(one, asked))
    ruled_out = [one for one in judged if isinstance(one, RuledOut)]
    ruled_out.sort(key=lambda one: _answers(one, asked))
    possible = [one for one in confirmed if one.category != "workload" or not _idle(known)]
    best = _best(possible, unchecked, asked)
    costly = [one for one in confirmed if not one.benign and one is not best]
    doubt = next((one for one in unchecked if _worth_a_test(one, asked)), None)
    return Verdict(
        category=best.category if best else "inconclusive",
        cause=best.rule.cause.id if best else None,
        headline=best.finding.statement if best else _open_headline(doubt, _unseen(known)),
        confidence=best.finding.confidence if best else 0.0,
        findings=(best, *costly) if best else tuple(costly),
        asides=tuple(one for one in confirmed if one.benign and one is not best),
        ruled_out=tuple(ruled_out),
        unchecked=tuple(unchecked),
        next_test=None if best else doubt.how if doubt else _next_look(unchecked, probes, asked),
        headroom=headroom,
    )


def weight(one: Confirmed, asked: Interest) -> float:
    """Weigh a finding for a question, 0 to about 1.2."""
    finding = one.finding
    losses = [-pct[1] for pct in (finding.effect.decode_pct, finding.effect.prefill_pct) if pct]
    cost = _CHEAP + (1 - _CHEAP) * min(1.0, max(losses) / _DEAR_PCT) if losses else 1.0
    beside = bool(finding.slows and asked.aspects and not finding.slows & asked.aspects)
    relevance = _BESIDE_THE_QUESTION if beside else 1.0
    if one.rule.cause.id in asked.intended:
        relevance *= _ON_PURPOSE
    elif _is_asked(one, asked):
        relevance *= _SUSPECTED
    elif one.benign:
        relevance *= _UNASKED_ODDITY
    grave = _GRAVE["benign" if one.benign else one.rule.cause.severity]
    return finding.confidence * grave * cost * relevance


def _is_asked(one: Confirmed, asked: Interest) -> bool:
    if one.benign and one.rule.cause.layer == _BROAD:
        return one.rule.cause.id in asked.suspects
    return asked.in_cause(one.rule)


def _proven(one: Confirmed, asked: Interest) -> float:
    """Weigh a finding by what shows it: a suspicion orders what is true, it proves nothing."""
    lifted = _is_asked(one, asked) and not one.benign and one.rule.cause.id not in asked.intended
    return weight(one, asked) / (_SUSPECTED if lifted else 1.0)


def _worth_a_test(one: Unchecked, asked: Interest) -> bool:
    """Say whether a doubt is strong enough, and about what was asked, to send a person testing."""
    if not one.how or one.missing or (asked.stopped and not one.rule.cause.stops):
        return False
    return _doubt(one, asked) >= _FAINT


def _doubt(one: Unchecked, asked: Interest) -> float:
    return one.suspicion * (_SUSPECTED if asked.in_cause(one.rule) else 1.0)


def _answers(one: RuledOut, asked: Interest) -> tuple[bool, bool, bool, float]:
    """Order what is ruled out: suspicions first, then what slows before what stops, or as asked."""
    cause = one.rule.cause
    suspected = cause.id in asked.suspects
    return (
        not suspected,
        not asked.in_cause(one.rule),
        cause.stops != asked.stopped,
        -_GRAVE[cause.severity],
    )


def _best(
    confirmed: Sequence[Confirmed], unchecked: Sequence[Unchecked], asked: Interest
) -> Confirmed | None:
    """Return the finding that carries the verdict, unless an open hypothesis is more likely."""
    best = next((one for one in confirmed if _answers_what_was_asked(one, asked)), None)
    if best is None or _proven(best, asked) < _DECIDES:
        return None
    open_doubt = max((_doubt(one, asked) for one in unchecked if one.how), default=0.0)
    return best if weight(best, asked) >= open_doubt else None


def _answers_what_was_asked(one: Confirmed, asked: Interest) -> bool:
    """Say whether a finding may be the answer; a fault that costs nothing yet answers only who asks."""
    return not one.idle_fault or _is_asked(one, asked)


def _open_headline(doubt: Unchecked | None, unseen: str) -> str:
    if unseen and (doubt is None or doubt.suspicion < _MATTERS):
        return unseen
    if doubt is None:
        return "What was seen shows no cause, and is too little to say that nothing is wrong."
    return f"{OPEN}{doubt.why.rstrip('.')}."


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


def _next_look(
    unchecked: Sequence[Unchecked], probes: Mapping[str, type[Probe[Any]]], asked: Interest
) -> str | None:
    """Name the look that would let most hypotheses be judged, of those that were asked about."""
    wanted: dict[str, int] = {}
    for one in unchecked:
        if asked.stopped and not one.rule.cause.stops:
            continue
        for name in one.how.split(", ") if one.missing and one.how else ():
            wanted[name] = wanted.get(name, 0) + 1
    if not wanted:
        return None
    best = max(wanted, key=lambda name: wanted[name])
    doc = probes[best].__doc__ or "" if best in probes else ""
    look = doc.strip().splitlines()[0].split(":")[0].rstrip(".") or "take one more look"
    typed = _LIKE.search(doc)
    shown = f"see what `{typed[1].strip().rstrip('.')}` prints, to " if typed else ""
    return f"Let me {shown}{look[:1].lower()}{look[1:]}; {wanted[best]} hypotheses wait for it ({best})."
