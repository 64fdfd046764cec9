"""What a sentence blames, clears or leaves open, held against the verdict: it may not contradict it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.agent.checking.claim_words import (
    ASSERTS,
    BLAMES,
    BROAD,
    CAUSAL,
    CERTAIN,
    CLEARS,
    DENIED_KIND,
    EXCLUDES,
    GENERIC,
    GUESSES,
    HEDGED,
    IDLE,
    KINDS,
    LIKEWISE,
    MEANT,
    TRUST,
)
from bot.agent.checking.clauses import clauses, denied
from bot.agent.checking.ground import Ground
from bot.agent.checking.numerals import plain
from bot.agent.checking.stems import stems
from bot.followup.suspect import suspects
from bot.narrator.answers import TOPICS
from bot.narrator.verdict import sure
from tools.judgement import Confirmed
from tools.knowledge import CAUSES
from tools.verdict import Verdict

_WHETHER = re.compile(r"\bwhether\b", re.IGNORECASE)
_MEANT_BY = 2  # words that name something, where no word of ours is for it
_NAMED = 0.7  # share of what a sentence names as a cause that must stand in our lines of the cause
_SAID = 0.6  # share of a clause's words that one line must hold, to blame or clear with it
_TOGETHER = 3  # words that say of what is open more than a name


class Stand:
    """What the verdict says of each topic: a layer or a cause of the catalogue."""

    def __init__(self, verdict: Verdict, told: Sequence[Ground]) -> None:
        self.verdict = verdict
        best = verdict.findings[0].rule.cause if verdict.cause and verdict.findings else None
        cause = {best.id, best.layer} if best else set[str]()
        for one in told:
            if one.kind == "cause":
                cause |= suspects(one.text)
        self.cause = frozenset(cause)
        self._own = frozenset({best.id, best.layer} if best else ())
        ours = [one for one in told if one.kind == "cause"]
        self._cause_words = frozenset[str]().union(*(one.stems for one in ours))
        layer = TOPICS.get(best.layer, "") if best else ""
        named = f"{verdict.headline} {layer}" if best else ""
        self._key = stems(plain(named)) - GENERIC
        self.costly = _topics_of(verdict.findings)
        self.benign = _topics_of(verdict.asides)
        self.excluded = frozenset(
            name for one in verdict.ruled_out for name in (one.rule.cause.id, one.rule.cause.layer)
        )
        self.open = frozenset(
            name for one in verdict.unchecked for name in (one.rule.cause.id, one.rule.cause.layer)
        )

    def against(self, text: str, fit: Sequence[Ground], *, verbatim: bool) -> str | None:
        """Say how a sentence contradicts the verdict; None where it does not.

        `verbatim` says that nearly all of it stands in one line of ours, so that its words of blame
        are ours as well; which cause it names as the cause is looked at even then.
        """
        checks = [self._trust(text, verbatim=verbatim), self._overruled(text), self._blamed(text)]
        if not verbatim:
            checks += ["it guesses" if GUESSES.search(text) else None]
            checks += [self._category(text), self._unnamed(text), self._said_of_topics(text)]
            checks += [self._unshown(one, fit) or _guessed(one, fit) for one in clauses(text)]
        return next((why for why in checks if why), None)

    def _overruled(self, text: str) -> str | None:
        if MEANT.search(text):
            return "it overrules the verdict"
        if LIKEWISE.search(text):
            return "it says the same of something else"
        if IDLE.search(text) and self.verdict.category not in ("no_fault", "at_ceiling"):
            return "it says that nothing is to be done"
        return None

    def _unnamed(self, text: str) -> str | None:
        """Say whether what a sentence names as the cause does not stand in our lines of the cause."""
        if HEDGED.search(text) or not any(
            CAUSAL.search(one) and not denied(one) for one in clauses(text)
        ):
            return None
        words = stems(plain(text)) - GENERIC
        known = bool(self._own & topics(text))
        if len(words & self._cause_words) < max(1 if known else 2, _NAMED * len(words)):
            return "it names a cause that the verdict does not"
        return None

    def _unshown(self, clause: str, fit: Sequence[Ground]) -> str | None:
        """Say whether a clause blames or clears what no one line of ours does."""
        if HEDGED.search(clause):
            return None
        words, no = stems(plain(clause)) - GENERIC, denied(clause)
        clears, blames = CLEARS.search(clause), BLAMES.search(clause)
        cleared = (bool(clears) and not no) or (no and bool(blames or CAUSAL.search(clause)))
        if cleared and words & self._key:
            held = len(words) > 2 and any(
                words <= each for one in fit for each in (one.denials if no else one.assertions)
            )
            return None if held else "it clears what the verdict blames"
        if blames and not cleared and words:
            kinds = ("cause", "true", "benign", "figure")
            most = (len(words & one.stems) for one in fit if one.kind in kinds)
            known = topics(clause) & (self.cause | self.costly | self.benign)
            few = len(words) < _MEANT_BY and not known
            if few or max(most, default=0) < _SAID * len(words):
                return "it blames what no finding does"
        return None

    def _trust(self, text: str, *, verbatim: bool) -> str | None:
        named = TRUST.search(text)
        if named and (named[1] or named[2]).lower() != sure(self.verdict.confidence):
            return "it says another confidence than the verdict"
        if not verbatim and CERTAIN.search(text) and (sure(self.verdict.confidence) != "high"):
            return "it is surer than the verdict"
        return None

    def _category(self, text: str) -> str | None:
        for clause in clauses(text):
            for name, words in KINDS.items():
                hedge = name != "inconclusive" and HEDGED.search(clause)
                if not words.search(clause) or hedge:
                    continue
                ours = name == self.verdict.category
                off = bool(DENIED_KIND.search(clause) or CLEARS.search(clause))
                off = off and name not in ("no_fault", "inconclusive")
                if ours and off:
                    return f"it denies that this is {name}"
                asserted = bool(CAUSAL.search(clause) or ASSERTS.search(clause))
                if not ours and not off and asserted:
                    return f"it says {name}, and the verdict {self.verdict.category}"
        return None

    def _blamed(self, text: str) -> str | None:
        every = clauses(text)
        if not any(CAUSAL.search(one) and not denied(one) for one in every):
            return None
        if self.verdict.cause is None and not HEDGED.search(text):
            return "it names a cause, and the verdict names none"
        blamed = {
            name
            for one in every
            if not denied(one) and not CLEARS.search(one) and not HEDGED.search(one)
            for name in topics(one)
        }
        return self._other(blamed)

    def _other(self, blamed: set[str]) -> str | None:
        wrong = {one for one in blamed if not self._is_cause(one)}
        return f"it names another cause ({', '.join(sorted(wrong))})" if wrong else None

    def _is_cause(self, topic: str) -> bool:
        layer = CAUSES[topic].layer if topic in CAUSES else topic
        return topic in self.cause or (topic in CAUSES and layer in self.cause)

    def _said_of_topics(self, text: str) -> str | None:
        for clause in clauses(text):
            about = topics(clause)
            no, clears, blames = denied(clause), CLEARS.search(clause), BLAMES.search(clause)
            hedged = HEDGED.search(clause) or HEDGED.search(text)
            if not about or hedged:
                continue
            cleared = (bool(clears) and not no) or (no and bool(blames or CAUSAL.search(clause)))
            blamed = not cleared and (bool(blames) or (no and bool(clears)))
            if cleared and (why := self._cleared(about)):
                return why
            if blamed and not about <= self.cause | self.costly | self.benign:
                return f"it blames what the verdict does not ({', '.join(sorted(about))})"
        return None

    def _cleared(self, topics: frozenset[str]) -> str | None:
        if guilty := topics & (self.cause | self.costly):
            return f"it clears what the verdict blames ({', '.join(sorted(guilty))})"
        if not topics <= self.excluded | self.benign:
            return "it clears what was not excluded"
        return None


def _topics_of(found: Sequence[Confirmed]) -> frozenset[str]:
    """Return the topics of findings: their causes, their layers, and what their words speak of."""
    return frozenset(
        name
        for one in found
        for name in (one.rule.cause.id, one.rule.cause.layer, *suspects(one.finding.statement))
    )


def _guessed(clause: str, fit: Sequence[Ground]) -> str | None:
    """Say whether a clause leaves open what no one line of ours leaves open."""
    words = stems(plain(HEDGED.sub(" ", clause))) - GENERIC
    if not HEDGED.search(clause) or not words:
        return None
    most = (len(words & one.stems) for one in fit if one.kind == "open" or hedged(one.text))
    alone = bool(CAUSAL.search(clause)) and len(words) < _TOGETHER
    if alone or max(most, default=0) < _SAID * len(words):
        return "it guesses at what the verdict does not leave open"
    return None


def telling(words: frozenset[str]) -> frozenset[str]:
    """Return the words that name something: a cause, a part, a setting."""
    return words - GENERIC


def hedged(text: str) -> bool:
    """Say whether a text leaves something open."""
    return bool(HEDGED.search(text))


def firm(text: str) -> list[str]:
    """Return the clauses that leave nothing open; after "whether" all is open, until another sentence begins."""
    head = _WHETHER.split(text, maxsplit=1)
    tail = head[1].partition(";")[2] if len(head) > 1 else ""
    return [one for part in (head[0], tail) for one in clauses(part) if not hedged(one)]


def clears(text: str) -> bool:
    """Say whether a text excludes something."""
    return bool(CLEARS.search(text)) or any(denied(one) for one in clauses(text))


def excludes(text: str) -> bool:
    """Say whether a text says of a hypothesis that it is excluded."""
    return bool(EXCLUDES.search(text))


def causal(text: str) -> bool:
    """Say whether a text says why something is."""
    return bool(CAUSAL.search(text))


def topics(text: str) -> frozenset[str]:
    """Return the layers and causes that a text speaks of."""
    return suspects(text) - BROAD
