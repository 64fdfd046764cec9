"""In what two cases differ, with what each difference costs where a finding puts a figure to it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.followup.traits import Trait, traits
from bot.investigate import Judged
from bot.narrator.measured import percent
from tools.judgement import Confirmed
from tools.known import Known

_NO_COST = 0.0


@dataclass(frozen=True)
class Difference:
    """One thing that differs. `cost` says what it costs and where, `cost_pct` how much, for the order.

    `decides` says that it is what the verdict on one of the two names.
    """

    what: str
    here: str
    there: str
    cost: str = ""
    cost_pct: float = _NO_COST
    measured: bool = False
    decides: bool = False
    weight: int = 0


def differences(
    here: Judged, there: Judged, names: tuple[str, str]
) -> tuple[tuple[Difference, ...], tuple[str, ...]]:
    """Return what differs, the measured rates first and then by cost; and the names of what is the same."""
    mine, theirs = _by_name(here), _by_name(there)
    found: list[Difference] = []
    same: list[Trait] = []
    for name in dict.fromkeys((*mine, *theirs)):
        one, other = mine.get(name), theirs.get(name)
        if one and other and one.alike(other):
            if one.weight:
                same.append(one)
        elif (one and other) or _tells_alone(one or other):
            found.append(_difference(one, other, {names[0]: here, names[1]: there}))
    found.sort(key=lambda one: (not one.measured, not one.decides, -one.cost_pct, -one.weight))
    same.sort(key=lambda one: -one.weight)
    return tuple(found), tuple(one.name for one in same)


def _by_name(end: Judged) -> dict[str, Trait]:
    return {one.name: one for one in traits(Known(end.evidence).get)}


def _tells_alone(one: Trait | None) -> bool:
    """Say whether it means something that only one of the two has it: a variable, a flag that was typed."""
    return bool(one and one.alone)


def _difference(one: Trait | None, other: Trait | None, ends: dict[str, Judged]) -> Difference:
    trait = one or other
    if trait is None:
        raise ValueError("a difference is of something that at least one case has")
    absent = "not set" if trait.alone else ""
    plain = Difference(
        what=trait.name,
        here=one.shown if one else absent,
        there=other.shown if other else absent,
        measured=trait.measured,
        weight=trait.weight,
    )
    return plain if trait.measured else _priced(plain, trait, ends)


def _priced(plain: Difference, trait: Trait, ends: dict[str, Judged]) -> Difference:
    """Add what a finding about it costs, if only one of the two has that finding."""
    found = {name: _findings(end, trait) for name, end in ends.items()}
    shared = frozenset.intersection(*(frozenset(one) for one in found.values()))
    for name, mine in found.items():
        for cause in mine.keys() - shared:
            loss, told = _loss(mine[cause])
            if loss > plain.cost_pct:
                decides = plain.decides or cause == ends[name].verdict.cause
                plain = replace(plain, cost=f"{name}: {told}", cost_pct=loss, decides=decides)
    return plain


def _findings(end: Judged, trait: Trait) -> dict[str, Confirmed]:
    return {one.rule.cause.id: one for one in end.verdict.findings if _is_about(one, trait)}


def _is_about(one: Confirmed, trait: Trait) -> bool:
    if one.rule.cause.layer in trait.layers:
        return True
    said = " ".join((one.finding.statement, *one.finding.quotes))
    return any(word in said for word in trait.words)


def _loss(one: Confirmed) -> tuple[float, str]:
    effect = one.finding.effect
    told = [("decode", effect.decode_pct), ("prefill", effect.prefill_pct)]
    losses = [(name, pct) for name, pct in told if pct and pct[1] < 0]
    worst = max((-pct[1] for _, pct in losses), default=_NO_COST)
    return worst, ", ".join(f"{name} {percent(pct)}" for name, pct in losses)
