"""One hypothesis judged: confirmed, ruled out, or unchecked, with the looks that say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tools.engine import Launch, Metrics, ServerLog
from tools.errors import Undecided
from tools.knowledge import Category
from tools.known import Known
from tools.physics.costs import cost_of
from tools.probe import Facts, Probe, facts_of
from tools.rule import Aspect, Cleared, Effect, Finding, Need, Rule
from tools.vllm.dialect import in_words_of_vllm, steps_for_vllm

_FAULTS = ("hardware", "config", "software_bug", "workload")


@dataclass(frozen=True)
class Confirmed:
    """A finding with the looks that show it."""

    rule: Rule
    evidence: tuple[str, ...]
    finding: Finding

    @property
    def category(self) -> Category:
        """Return the category of the finding, by the catalogue unless the rule knows better.

        What costs nothing is no fault, whatever kind of fault the catalogue has it for.
        """
        category = self.finding.category or self.rule.cause.category
        return "no_fault" if self.idle_fault else category

    @property
    def idle_fault(self) -> bool:
        """Say whether it is a fault that costs nothing as things are: true, and no false alarm."""
        category = self.finding.category or self.rule.cause.category
        return self.finding.benign and category in _FAULTS

    @property
    def benign(self) -> bool:
        """Say whether it is true and costs nothing."""
        return self.finding.benign or self.category == "no_fault"

    def costing_nothing(self, test: RuledOut) -> Confirmed:
        """Return this as an oddity: true, and a test of what it would slow shows no difference."""
        finding = self.finding
        if self.rule.cause.stops or (finding.slows and not finding.slows & test.tested):
            return self
        said = f"{finding.statement.rstrip('.')}. It costs nothing here: {test.why}."
        ids = tuple(dict.fromkeys((*self.evidence, *test.evidence)))
        idle = replace(finding, statement=said, benign=True, effect=Effect())
        return Confirmed(self.rule, ids, idle)


@dataclass(frozen=True)
class RuledOut:
    """A hypothesis that the facts exclude."""

    rule: Rule
    evidence: tuple[str, ...]
    why: str = ""  # the rule's own words, if it has any
    tested: frozenset[Aspect] = frozenset()  # what a test without effect measured

    def and_also(self, other: RuledOut) -> RuledOut:
        """Return this with what another rule about the same cause says."""
        ids = sorted({*self.evidence, *other.evidence}, key=lambda one: int(one[1:]))
        whys = dict.fromkeys(why for why in (self.why, other.why) if why)
        return RuledOut(self.rule, tuple(ids), "; ".join(whys), self.tested | other.tested)


@dataclass(frozen=True)
class Unchecked:
    """A hypothesis that could not be judged: why, and how it would be."""

    rule: Rule
    evidence: tuple[str, ...]
    why: str
    how: str
    suspicion: float = 0.0
    missing: tuple[str, ...] = ()  # kinds of facts that nothing gave


Judgement = Confirmed | RuledOut | Unchecked

FELL = "the rule fell over these facts"


def judge_each(
    rules: Sequence[Rule], known: Known, probes: Mapping[str, type[Probe[Any]]]
) -> list[Judgement]:
    """Judge every rule; of several rules about one cause the one that says most stands."""
    best: dict[str, Judgement] = {}
    serving = known.of_serving()
    asks = _asks(probes)
    for rule in rules:
        now = _judged(rule, known if rule.cause.stops else serving, asks)
        before = best.get(rule.cause.id)
        if before is not None or not _silent(now):
            best[rule.cause.id] = _both(before, now) if before else now
    return list(best.values())


def _asks(probes: Mapping[str, type[Probe[Any]]]) -> dict[type[Facts], str]:
    """Return by which probe each kind of facts is asked for, the first of several."""
    return {facts_of(probe): name for name, probe in reversed(list(probes.items()))}


def _both(before: Judgement, now: Judgement) -> Judgement:
    """Join two judgements of one cause; what a test measured weighs more than what facts suggest."""
    if isinstance(now, RuledOut):
        if isinstance(before, RuledOut):
            return before.and_also(now)
        if now.tested:
            return before.costing_nothing(now) if isinstance(before, Confirmed) else now
    return now if _says(now) > _says(before) else before


def _silent(one: Judgement) -> bool:
    """Say whether a rule has no opinion: the facts are there, and are not about it."""
    return isinstance(one, Unchecked) and not one.why


def judge_one(rule: Rule, known: Known, probes: Mapping[str, type[Probe[Any]]]) -> Judgement:
    """Give a rule the facts it needs, and take its word."""
    return _judged(rule, known, _asks(probes))


def _judged(rule: Rule, known: Known, asks: Mapping[type[Facts], str]) -> Judgement:
    missing = [need for need in rule.required if known.get(need.facts) is None]
    given = {} if missing else {need.name: known.get(need.facts) for need in rule.needs}
    mixed = ""
    if given and known.of_several_machines:
        mixed, given = _apart(rule, given)
    if missing or mixed:
        return _lacks(rule, missing, known, asks) if missing else _of_two_machines(rule, mixed)
    used = tuple(facts for facts in given.values() if facts is not None)
    try:
        outcome = rule.judge(**given)
    except Undecided as why:
        how = in_words_of_vllm(why.settle) if _of_vllm(known) else why.settle
        return Unchecked(rule, known.cited(used), why.why, how, why.suspicion)
    except Exception as why:  # noqa: BLE001 - facts that no rule foresaw must not end the others
        fell = f"{FELL} ({type(why).__name__}), which is a fault to report"
        return Unchecked(rule, known.cited(used), fell, "")
    if outcome is None:
        return RuledOut(rule, known.cited(used))
    cited = known.cited(outcome.shown_by or used)
    if isinstance(outcome, Cleared):
        return RuledOut(rule, cited, outcome.why, outcome.tested)
    outcome = _priced(rule, outcome, known)
    return Confirmed(rule, cited, _for_vllm(rule, outcome) if _of_vllm(known) else outcome)


def _priced(rule: Rule, finding: Finding, known: Known) -> Finding:
    """Return a finding at what it costs this deployment, where the step model knows it."""
    own = finding.effect
    if finding.benign or own.measured:
        return finding
    cost = cost_of(rule.cause.id, known.get, own.times_slower)
    if cost is None:
        return finding
    decode, prefill = (
        pct if pct and any(pct) else None for pct in (cost.decode_pct, cost.prefill_pct)
    )
    return replace(finding, effect=Effect(decode, prefill, cost.source))


def _of_vllm(known: Known) -> bool:
    """Say whether the server is vLLM, as its launch, its log or its metrics tell, in this order."""
    told = (known.get(Launch), known.get(ServerLog), known.get(Metrics))
    engines = [facts.engine for facts in told if facts is not None and facts.engine]
    return engines[:1] == ["vllm"]


def _for_vllm(rule: Rule, finding: Finding) -> Finding:
    """Return a finding whose words and steps are those of vLLM."""
    cause = rule.cause
    return replace(
        finding,
        statement=in_words_of_vllm(finding.statement),
        remedy=steps_for_vllm(finding.remedy or cause.remedy),
        risk=in_words_of_vllm(finding.risk or cause.risk),
        verify=in_words_of_vllm(finding.verify or cause.verify),
    )


def _of_two_machines(rule: Rule, mixed: str) -> Unchecked:
    why = f"the texts are of different machines: {mixed}"
    return Unchecked(rule, (), why, "the files of each machine by themselves", suspicion=0.02)


def _apart(rule: Rule, given: dict[str, Facts | None]) -> tuple[str, dict[str, Facts | None]]:
    """Say why a rule cannot judge facts of two machines, and return what it may be given.

    A rule may judge cards that are kept apart, by themselves alone: whose machine the other facts
    tell of is not known.
    """
    needed = [facts for need in rule.required if (facts := given[need.name])]
    mixed = [facts for facts in needed if facts.mixed]
    alone = len(needed) == 1 and needed[0].keeps_apart
    if mixed and not alone:
        return mixed[0].mixed, given
    optional = {need.name for need in rule.needs if need.optional}
    dropped = {
        name for name in optional if mixed or ((facts := given[name]) is not None and facts.mixed)
    }
    return "", {name: None if name in dropped else facts for name, facts in given.items()}


def _lacks(
    rule: Rule, missing: Sequence[Need], known: Known, asks: Mapping[type[Facts], str]
) -> Unchecked:
    kinds = [need.facts for need in missing]
    why = [known.trouble(kind) or f"nothing tells of {kind.__name__}" for kind in kinds]
    how = [asks[kind] for kind in kinds if kind in asks]
    names = tuple(kind.__name__ for kind in kinds)
    return Unchecked(rule, (), "; ".join(why), ", ".join(how), missing=names)


def _says(one: Judgement) -> tuple[int, float]:
    if isinstance(one, Confirmed):
        return 3, one.finding.confidence * (0.5 if one.benign else 1.0)
    if isinstance(one, Unchecked):
        return (0, 0.0) if one.missing or _silent(one) else (2, one.suspicion)
    return 1, 1.0 if one.why else 0.0
