"""Whether one line of ours bears a clause: nearly all of its words, each that turns it, none that we deny."""

from __future__ import annotations

from collections.abc import Sequence

from bot.agent.checking.claims import telling
from bot.agent.checking.clauses import bare, denied
from bot.agent.checking.ground import Ground
from bot.agent.checking.numerals import plain
from bot.agent.checking.stems import stems

_BORNE = 0.7  # share of a clause's words that one line holds
_SAYS = 2  # words that name something, below which a clause says nothing by itself


def borne(clause: str, fit: Sequence[Ground], turning: frozenset[str]) -> bool:
    """Say whether a line of ours bears a clause; `turning` are the words that must not be added."""
    words = stems(plain(clause))
    if denied(clause) or (len(telling(words)) < _SAYS and not words & turning):
        return True
    return any(bare(clause) in one.clauses or _bears(one, words, turning) for one in fit)


def _bears(one: Ground, words: frozenset[str], turning: frozenset[str]) -> bool:
    if len(words & one.stems) < _BORNE * len(words) or (words & turning) - one.stems:
        return False
    asserted = frozenset[str]().union(*one.assertions)
    only_denied = frozenset[str]().union(*one.denials) - asserted
    return not words & only_denied
