"""How findings and doubts are weighed for a question, and why one is not its answer.

Weighing is arithmetic on what rules say, so that it can be read and argued with: confidence x how
grave the cause is x what it costs x how much it explains of what was asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from tools.interest import Interest
from tools.judgement import Confirmed, RuledOut, Unchecked

_GRAVE = {"critical": 1.0, "major": 0.85, "moderate": 0.7, "minor": 0.5, "info": 0.5, "benign": 0.5}
_DECIDES = 0.25  # a weight below it does not carry a verdict
_BESIDE_THE_QUESTION = 0.45  # for what explains nothing of what was asked
_SUSPECTED = 1.25  # for what the person suspects: a claim deserves its answer
_ON_PURPOSE = 0.3  # for what the person has chosen and says so
_UNASKED_ODDITY = 0.6  # for what is true, costs nothing, and was not asked about
_BROAD = "sglang"  # a layer so wide that suspecting it ("which flag?") raises no oddity of its own
_FAINT = 0.1  # a doubt below it is no test to send a person for
_DEAR_PCT = 40.0  # a loss that weighs fully
_CHEAP = 0.6  # weight of a loss next to nothing


def weight(one: Confirmed, asked: Interest) -> float:
    """Weigh a finding for a question, 0 to about 1.2."""
    finding = one.finding
    losses = [-pct[1] for pct in (finding.effect.decode_pct, finding.effect.prefill_pct) if pct]
    cost = _CHEAP + (1 - _CHEAP) * min(1.0, max(losses) / _DEAR_PCT) if losses else 1.0
    relevance = _BESIDE_THE_QUESTION if _beside(one, asked) else 1.0
    if one.rule.cause.id in asked.intended:
        relevance *= _ON_PURPOSE
    elif is_asked(one, asked):
        relevance *= _SUSPECTED
    elif one.benign:
        relevance *= _UNASKED_ODDITY
    grave = _GRAVE["benign" if one.benign else one.rule.cause.severity]
    return finding.confidence * grave * cost * relevance


def is_asked(one: Confirmed, asked: Interest) -> bool:
    """Say whether the cause of a finding is suspected; a wide layer raises no oddity."""
    if one.benign and one.rule.cause.layer == _BROAD:
        return one.rule.cause.id in asked.suspects
    return asked.in_cause(one.rule)


def proven(one: Confirmed, asked: Interest) -> float:
    """Weigh a finding by what shows it: a suspicion orders what is true, it proves nothing."""
    lifted = is_asked(one, asked) and not one.benign and one.rule.cause.id not in asked.intended
    return weight(one, asked) / (_SUSPECTED if lifted else 1.0)


def worth_a_test(one: Unchecked, asked: Interest) -> bool:
    """Say whether a doubt is strong enough, and about what was asked, to send a person testing."""
    if not one.how or one.missing or (asked.stopped and not one.rule.cause.stops):
        return False
    return doubt(one, asked) >= _FAINT


def doubt(one: Unchecked, asked: Interest) -> float:
    """Weigh an open hypothesis for a question."""
    return one.suspicion * (_SUSPECTED if asked.in_cause(one.rule) else 1.0)


def answers(one: RuledOut, asked: Interest) -> tuple[bool, bool, bool, float]:
    """Order what is ruled out: suspicions first, then what slows before what stops, or as asked."""
    cause = one.rule.cause
    suspected = cause.id in asked.suspects
    return (
        not suspected,
        not asked.in_cause(one.rule),
        cause.stops != asked.stopped,
        -_GRAVE[cause.severity],
    )


def carries(
    confirmed: Sequence[Confirmed], unchecked: Sequence[Unchecked], asked: Interest
) -> Confirmed | None:
    """Return the finding that carries the verdict, unless an open hypothesis is more likely."""
    best = next((one for one in confirmed if _answers_what_was_asked(one, asked)), None)
    if best is None or proven(best, asked) < _DECIDES:
        return None
    open_doubt = max((doubt(one, asked) for one in unchecked if one.how), default=0.0)
    return best if weight(best, asked) >= open_doubt else None


def why_not(one: Confirmed, asked: Interest) -> str:
    """Say why something true is not the answer; empty where its own statement says it."""
    if one.rule.cause.id in asked.intended:
        return "it is so on purpose, as you say"
    if _beside(one, asked):
        slowed, meant = (
            " and ".join(sorted(aspects)) for aspects in (one.finding.slows, asked.aspects)
        )
        return f"it bears on {slowed}, not on {meant}"
    if one.idle_fault:
        return "it costs nothing as things are"
    return "" if one.benign else "it explains less of what you ask about"


def _beside(one: Confirmed, asked: Interest) -> bool:
    slows = one.finding.slows
    return bool(slows and asked.aspects and not slows & asked.aspects)


def _answers_what_was_asked(one: Confirmed, asked: Interest) -> bool:
    """Say whether a finding may be the answer; a fault that costs nothing yet answers only who asks."""
    return not one.idle_fault or is_asked(one, asked)
