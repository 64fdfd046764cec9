"""What a model supposes and nothing proves yet: shown apart, with the test, and never judged."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bot.agent.checking.sentences import strange, tidy
from tools.evidence import Evidence

MOST = 3  # that a person is shown
LONGEST = 240  # characters of an idea, and of its test
# What no test of a guess needs: what is secret, what destroys or opens a host, whom to blame.
_UNSAFE = re.compile(
    r"\b(?:pass(?:word|phrase|code)s?|credentials?|secrets?|(?:private|ssh|api|admin) keys?|paste|firewall"
    r"|delet\w+|eras\w+|wip(?:e|es|ing)|format(?:s|ting)? (?:the|a|all)|p?kill\w*|shut\w* (?:\w+ ){0,3}down|fork bomb"
    r"|steal\w*|stolen|colleagues?|hack\w*)\b",
    re.IGNORECASE,
)


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
    name any cause, but it may invent nothing; and a test is words for a person, never a command.
    """
    every = list(dict.fromkeys(ideas))
    fit = [one for one in every if _fits(one, why_not)]
    return tuple(fit[:MOST]), len(every) - len(fit)


def _fits(one: Hypothesis, why_not: Callable[[str, tuple[str, ...]], str | None]) -> bool:
    texts = (one.text, one.test)
    if not all(texts) or any(_UNSAFE.search(text) for text in texts):
        return False
    return not any(strange(text) or why_not(text, one.looks) for text in texts)
