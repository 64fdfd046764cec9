"""A verdict: every hypothesis confirmed, ruled out or unchecked, and which of them answers the question.

Ranking is arithmetic on what rules say, so that it can be read and argued with: confidence x how
much the finding explains of what was asked x how grave the cause is x what it costs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tools.errors import Undecided
from tools.evidence import Evidence
from tools.knowledge import Category
from tools.known import Known
from tools.physics.headroom import Headroom
from tools.probe import Probe, facts_of
from tools.rule import Aspect, Cleared, Finding, Need, Rule

_GRAVE = {"critical": 1.0, "major": 0.85, "moderate": 0.7, "minor": 0.5, "info": 0.5, "benign": 0.5}
_DECIDES = 0.3  # a score below it does not carry a verdict
_BESIDE_THE_QUESTION = 0.45  # weight of a finding that explains nothing of what was asked
_SUSPECTED = 1.25  # weight of a finding about what the person suspects: a claim deserves its answer


@dataclass(frozen=True)
class Interest:
    """What the person wants to know: which aspects of serving, and what they suspect.

    `suspects` holds layers and ids of the catalogue ("pcie", "nccl", "cuda_graph_disabled").
    """

    aspects: frozenset[Aspect] = frozenset()
    suspects: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Confirmed:
    """A finding with the looks that show it and its rank."""

    rule: Rule
    finding: Finding
    evidence: tuple[str, ...]
    score: float

    @property
    def category(self) -> Category:
        """Return the category of the finding, by the catalogue unless the rule knows better."""
        return self.finding.category or self.rule.cause.category

    @property
    def benign(self) -> bool:
        """Say whether it is true and costs nothing."""
        return self.finding.benign or self.category == "no_fault"


@dataclass(frozen=True)
class RuledOut:
    """A hypothesis that the facts exclude."""

    rule: Rule
    evidence: tuple[str, ...]
    why: str = ""  # the rule's own words, if it has any


@dataclass(frozen=True)
class Unchecked:
    """A hypothesis that could not be judged: why, and how it would be."""

    rule: Rule
    why: str
    how: str
    evidence: tuple[str, ...] = ()
    suspicion: float = 0.0
    missing: tuple[str, ...] = ()  # kinds of facts that nothing gave


@dataclass(frozen=True)
class Verdict:
    """What is said at the end. `cause` is None when no cause can be named."""

    category: Category
    cause: str | None
    headline: str
    confidence: float
    findings: tuple[Confirmed, ...]  # what costs something, gravest first
    asides: tuple[Confirmed, ...]  # true, and not the answer
    ruled_out: tuple[RuledOut, ...]
    unchecked: tuple[Unchecked, ...]
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
    interest, known = interest or Interest(), Known(evidence)
    confirmed: list[Confirmed] = []
    ruled_out: list[RuledOut] = []
    unchecked: list[Unchecked] = []
    for one in rules:
        outcome = _judge_one(one, known, probes, interest)
        if isinstance(outcome, Confirmed):
            confirmed.append(outcome)
        elif isinstance(outcome, RuledOut):
            ruled_out.append(outcome)
        else:
            unchecked.append(outcome)
    confirmed.sort(key=lambda it: -it.score)
    unchecked.sort(key=lambda it: -it.suspicion)
    return _weigh(confirmed, ruled_out, unchecked, headroom)


def _judge_one(
    one: Rule, known: Known, probes: Mapping[str, type[Probe[Any]]], interest: Interest
) -> Confirmed | RuledOut | Unchecked:
    given = {need.name: known.get(need.facts) for need in one.needs}
    missing = tuple(need for need in one.needs if not need.optional and given[need.name] is None)
    if missing:
        return _lacks(one, missing, known, probes)
    used = tuple(facts for facts in given.values() if facts is not None)
    try:
        finding = one.judge(**given)
    except Undecided as why:
        relevance = _relevance(one, frozenset(), interest)
        return Unchecked(one, why.why, why.settle, known.cited(used), why.suspicion * relevance)
    if finding is None:
        return RuledOut(one, known.cited(used))
    if isinstance(finding, Cleared):
        return RuledOut(one, known.cited(finding.shown_by or used), finding.why)
    cited = known.cited(finding.shown_by or used)
    return Confirmed(one, finding, cited, _score(one, finding, interest))


def _lacks(
    one: Rule, missing: Sequence[Need], known: Known, probes: Mapping[str, type[Probe[Any]]]
) -> Unchecked:
    why, how = [], []
    for need in missing:
        why.append(known.trouble(need.facts) or f"nothing tells of {need.facts.__name__}")
        how += [name for name, probe in probes.items() if facts_of(probe) is need.facts][:1]
    kinds = tuple(need.facts.__name__ for need in missing)
    return Unchecked(one, "; ".join(why), ", ".join(how), missing=kinds)


def _relevance(one: Rule, slows: frozenset[Aspect], interest: Interest) -> float:
    suspected = one.cause.id in interest.suspects or one.cause.layer in interest.suspects
    beside = bool(slows and interest.aspects and not slows & interest.aspects)
    return (_BESIDE_THE_QUESTION if beside else 1.0) * (_SUSPECTED if suspected else 1.0)


def _score(one: Rule, finding: Finding, interest: Interest) -> float:
    grave = _GRAVE["benign" if finding.benign else one.cause.severity]
    losses = [-pct[1] for pct in (finding.effect.decode_pct, finding.effect.prefill_pct) if pct]
    cost = 1.0 if not losses else 0.6 + 0.4 * min(1.0, max(losses) / 40)
    return finding.confidence * grave * cost * _relevance(one, finding.slows, interest)


def _weigh(
    confirmed: list[Confirmed],
    ruled_out: list[RuledOut],
    unchecked: list[Unchecked],
    headroom: Headroom | None,
) -> Verdict:
    costly = tuple(one for one in confirmed if not one.benign)
    benign = tuple(one for one in confirmed if one.benign)
    best = next((one for one in confirmed if one.score >= _DECIDES), None)
    doubt = next((one for one in unchecked if one.how and not one.missing), None)
    if best and doubt and doubt.suspicion > best.score:
        best = None
    lead = costly if not best or not best.benign else (best, *costly)
    asides = tuple(one for one in benign if one is not best)
    settle = doubt.how if doubt else None
    if best is None:
        return Verdict(
            category="inconclusive",
            cause=None,
            headline=_open_headline(doubt, lead),
            confidence=0.0,
            findings=lead,
            asides=asides,
            ruled_out=tuple(ruled_out),
            unchecked=tuple(unchecked),
            next_test=settle or _next_look(unchecked),
            headroom=headroom,
        )
    ranked = (best, *(one for one in lead if one is not best))
    return Verdict(
        category=best.category,
        cause=best.rule.cause.id,
        headline=best.finding.statement,
        confidence=best.finding.confidence,
        findings=ranked,
        asides=asides,
        ruled_out=tuple(ruled_out),
        unchecked=tuple(unchecked),
        next_test=None,
        headroom=headroom,
    )


def _open_headline(doubt: Unchecked | None, costly: Sequence[Confirmed]) -> str:
    if doubt:
        return f"This cannot be decided from what was seen: {doubt.why}."
    if costly:
        return "What was found is too little to carry a verdict; one more look is needed."
    return "Nothing that was seen decides this."


def _next_look(unchecked: Sequence[Unchecked]) -> str | None:
    """Name the look that would let most hypotheses be judged."""
    wanted: dict[str, int] = {}
    for one in unchecked:
        for name in one.how.split(", ") if one.missing else ():
            wanted[name] = wanted.get(name, 0) + 1
    if not wanted:
        return None
    best = max(wanted, key=lambda name: wanted[name])
    return f"Let me read what {best} asks for: {wanted[best]} hypotheses wait for it."
