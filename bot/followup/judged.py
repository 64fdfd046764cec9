"""The judgements of a verdict that answer a suspicion, the most telling first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.followup.intent import Intent
from bot.followup.suspect import named
from tools.judgement import Confirmed, Judgement, RuledOut
from tools.rule import Rule
from tools.verdict import Verdict

_BROAD = "sglang"  # a layer so wide that a word for it alone names no cause


def meant(rules: Iterable[Rule], intent: Intent) -> list[Rule]:
    """Return the rules about what is suspected: of the causes named, else of the whole layer."""
    rules = list(rules)
    narrow = named(intent.text) or {one for one in intent.suspects if one not in _layers(rules)}
    chosen = [rule for rule in rules if rule.cause.id in narrow]
    layers = intent.suspects & _layers(rules) - {_BROAD}
    whole = [rule for rule in rules if rule.cause.layer in layers and rule not in chosen]
    return chosen if named(intent.text) and chosen else chosen + whole


def about(verdict: Verdict, intent: Intent) -> list[Judgement]:
    """Return what the verdict says about a suspicion: what is true, then open, then excluded."""
    every: Sequence[Judgement] = (
        *verdict.findings,
        *verdict.asides,
        *verdict.unchecked,
        *verdict.ruled_out,
    )
    rules = meant((one.rule for one in every), intent)
    ids = [rule.cause.id for rule in rules]
    found = [one for one in every if one.rule.cause.id in ids]
    return sorted(found, key=_order)


def _order(one: Judgement) -> int:
    if isinstance(one, Confirmed):
        return 0
    return 2 if isinstance(one, RuledOut) else 1


def _layers(rules: Iterable[Rule]) -> frozenset[str]:
    return frozenset(rule.cause.layer for rule in rules)
