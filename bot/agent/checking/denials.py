"""Whether a clause denies what we do not deny, or asserts what we do."""

from __future__ import annotations

from collections.abc import Sequence

from bot.agent.checking.claims import excludes, telling, topics
from bot.agent.checking.clauses import bare, denials
from bot.agent.checking.ground import Ground
from bot.agent.checking.numerals import plain
from bot.agent.checking.stems import stems

VERBATIM = 0.85  # share of the words, from which on a line of ours says all of it
_DENIED = 0.6  # share of a denying clause's words that a denial of ours must hold
_HYPOTHESIS = 3  # words that a clause has at least, to be a hypothesis
_REVIVED = 0.75  # share of them that stands in the hypothesis
_NAMES_ALONE = 2  # words, below which a clause names something and says nothing of it


_OPPOSITE = {"onstat": "offstat", "offstat": "onstat", "upstat": "downstat", "downstat": "upstat"}


def switched(clause: str, fit: Sequence[Ground]) -> str | None:
    """Say whether a clause says "on" of what we say "off" of, or of what we say neither of."""
    words = stems(plain(clause))
    state = words & _OPPOSITE.keys()
    rest = words - state
    if not state or not rest:
        return None
    if denials(clause) % 2:
        state = frozenset(_OPPOSITE[one] for one in state)
    said = [
        ours if asserted else _inverted(ours)
        for one in fit
        if one.kind not in ("open", "excluded", "todo", "words")
        for asserted, every in ((True, one.assertions), (False, one.denials))
        for ours in every
        if _share(rest, ours) >= _DENIED
    ]
    against = any(_OPPOSITE[one] in ours for one in state for ours in said)
    if against or not any(state <= ours for ours in said):
        return "it says on or off, up or down, of what we do not"
    return None


def _inverted(words: frozenset[str]) -> frozenset[str]:
    return frozenset(_OPPOSITE.get(one, one) for one in words)


def flipped(clause: str, fit: Sequence[Ground]) -> str | None:
    """Say whether a clause denies what no line of ours denies, or asserts what one does."""
    words, times = stems(plain(clause)), denials(clause)
    if not words or any(bare(clause) in one.clauses for one in fit):
        return None
    if times > 1:
        return "it denies twice"
    if times:
        return _denies(clause, telling(words) or words, fit)
    if len(words) < _NAMES_ALONE:
        return None
    against = any(_share(words, ours) >= VERBATIM for one in fit for ours in one.denials)
    with_it = any(_share(words, ours) >= VERBATIM for one in fit for ours in _all(one))
    return "it says what was denied" if against and not with_it else None


def revived(clause: str, fit: Sequence[Ground], gone: Sequence[Ground]) -> bool:
    """Say whether a clause asserts a hypothesis that is excluded, and nothing else of ours says it."""
    words = stems(plain(clause))
    if len(words) < _HYPOTHESIS or denials(clause) or excludes(clause):
        return False
    said = any(_share(words, one.stems) >= _REVIVED for one in gone)
    return said and not any(_share(words, one.stems) >= VERBATIM for one in fit if one not in gone)


def _all(one: Ground) -> tuple[frozenset[str], ...]:
    return one.assertions if one.denials else (*one.assertions, one.stems)


def _denies(clause: str, words: frozenset[str], fit: Sequence[Ground]) -> str | None:
    """Say whether nothing of ours denies that, or our lines of the cause say the contrary."""
    held = max(
        (
            _share(words, ours)
            for one in fit
            for ours in (one.denials if one.kind != "excluded" else (one.stems,))
            if one.kind != "excluded" or _share(ours, words) >= _DENIED
        ),
        default=0.0,
    )
    ours = max(
        (_share(words, each) for one in fit if one.kind == "cause" for each in one.assertions),
        default=0.0,
    )
    if len(words) < _NAMES_ALONE and not topics(" ".join(words)) and not topics(clause):
        return "it denies, and nothing that it stands on does"
    if held < _DENIED or ours >= VERBATIM:
        return "it denies, and nothing that it stands on does"
    return None


def _share(words: frozenset[str], ours: frozenset[str]) -> float:
    return len(words & ours) / len(words)
