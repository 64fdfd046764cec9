"""What a model supposes and nothing proves yet: shown apart, with the test, and never judged."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.agent.checking.joints import pieces
from bot.agent.checking.sentences import strange, tidy
from bot.agent.checking.stems import stems
from tools.evidence import Evidence
from tools.knowledge import CAUSES
from tools.rules import RULES

MOST = 3  # that a person is shown
LONGEST = 240  # characters of an idea, and of its test
_WORD = re.compile(r"[a-z]+")
_NEW = 1  # words of an idea that no cause of the catalogue has


def _known() -> Iterator[str]:
    """Yield what the catalogue does about its causes, and what the rules suppose."""
    for cause in CAUSES.values():
        yield from (cause.decisive_check, *cause.remedy, cause.risk, cause.verify, *cause.symptoms)
    yield from (rule.hypothesis for rule in RULES)


_TEXT = " \n ".join(_known()).lower()
_STEMS = stems(_TEXT)
_WORDS = frozenset(_WORD.findall(_TEXT))


@dataclass(frozen=True)
class Hypothesis:
    """An idea, the test that would prove it, and the looks that suggest it, which exist."""

    text: str
    test: str
    looks: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, text: str, test: str, looks: Iterable[str], evidence: Sequence[Evidence]
    ) -> Hypothesis:
        """Make one of what a model said; ids that no look has are left out."""
        there = {look.id for look in evidence}
        cited = dict.fromkeys(one for one in looks if one in there)
        return cls(tidy(text)[:LONGEST], tidy(test)[:LONGEST], tuple(cited))


def shown(
    ideas: Iterable[Hypothesis], why_not: Callable[[str, tuple[str, ...]], str | None]
) -> tuple[tuple[Hypothesis, ...], int]:
    """Return the ideas that may be shown, `MOST` at the most, and how many invent something.

    `why_not` says why the figures, names and flags of a text do not stand in the looks. An idea may
    name any cause, but it may invent nothing; and a test does what the catalogue does in its tests
    and remedies, to what they are done to: it asks for no secret, and destroys nothing.
    """
    every = list(dict.fromkeys(ideas))
    fit = [one for one in every if _fits(one, why_not)]
    return tuple(fit[:MOST]), len(every) - len(fit)


def _fits(one: Hypothesis, why_not: Callable[[str, tuple[str, ...]], str | None]) -> bool:
    if not one.text or not one.test or not _is_ours(one.test):
        return False
    if len(stems(one.text) - _STEMS) > _NEW:
        return False
    return not any(strange(text) or why_not(text, one.looks) for text in (one.text, one.test))


def _is_ours(test: str) -> bool:
    """Say whether a test is in words of the catalogue, and each of its steps begins with one as it stands there."""
    begins = (_WORD.search(one.of(test).lower()) for one in pieces(test))
    return stems(test) <= _STEMS and all(word is None or word[0] in _WORDS for word in begins)
