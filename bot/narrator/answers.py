"""What is excluded, as a person would be answered: first what they suspect, by name, then the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.narrator.line import Line
from bot.narrator.wording import raised, spaced
from tools.judgement import RuledOut
from tools.knowledge.topics import TOPICS
from tools.verdict import Interest

__all__ = ["TOPICS", "not_the_cause"]

_OF_A_TOPIC = 3
_OTHERS_SHOWN = 4


def not_the_cause(ruled_out: Sequence[RuledOut], asked: Interest) -> Iterator[Line]:
    """Tell what answers a suspicion under its name, then the graver causes; count the rest."""
    worded = list({one.why: one for one in reversed(ruled_out) if one.why}.values())[::-1]
    topics: dict[str, list[RuledOut]] = {}
    for one in worded:
        if topic := _topic(one, asked):
            topics.setdefault(topic, []).append(one)
    others = [one for one in worded if not _topic(one, asked)][:_OTHERS_SHOWN]
    if ruled_out:
        yield Line("heading", "Not the cause, and why")
    told = len(others)
    for topic, group in topics.items():
        shown = group[:_OF_A_TOPIC]
        told += len(shown)
        yield Line("item", f"{topic}: {_joined('; ', shown)}.")
    if others:
        text = _joined(" · ", others)
        yield Line("item", f"{raised(text)}.")
    if left := len(ruled_out) - told:
        many = "hypotheses are" if left > 1 else "hypothesis is"
        yield Line("said", f"{left} more {many} excluded by what was seen; --json lists them.")


def _topic(one: RuledOut, asked: Interest) -> str:
    cause = one.rule.cause
    found = next((name for name in (cause.id, cause.layer) if name in asked.suspects), "")
    return TOPICS.get(found, "")


def _joined(sign: str, shown: Sequence[RuledOut]) -> str:
    """Join reasons, each with the looks that show it: "no quota is set (E3 E11)"."""
    return sign.join(
        f"{spaced(one.why.rstrip('.'))}{' (' + ' '.join(one.evidence) + ')' if one.evidence else ''}"
        for one in shown
    )
