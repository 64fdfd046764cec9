"""A finding that only one of the two sides has, as a difference with what it costs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tools.comparison.difference import Difference
from tools.comparison.gain import Gain, of_percents
from tools.comparison.side import Side
from tools.comparison.trait import Trait
from tools.judgement import Confirmed
from tools.verdict import Verdict

_NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class Lone:
    """A costly finding that one side alone has: `ill` 0 the first, 1 the second.

    `other` says what is known of it on the other side, `decides` that the verdict names it.
    """

    one: Confirmed
    ill: int
    other: str
    decides: bool

    def is_about(self, trait: Trait) -> bool:
        """Say whether it is the finding about something that can be compared."""
        cause = self.one.rule.cause.id
        if cause in trait.causes:
            return True
        said = " ".join((self.one.finding.statement, *self.one.finding.quotes))
        return any(
            re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", said) for word in trait.words
        )

    def beside(self, plain: Difference) -> Difference:
        """Return a difference with this finding about it."""
        return replace(
            plain,
            gain=self.gain(),
            source=self.one.finding.effect.source,
            cause=self.one.rule.cause.id,
            statement=self.one.finding.statement,
            ill=self.ill,
            decides=self.decides,
            slows=frozenset(self.one.finding.slows),
        )

    def difference(self) -> Difference:
        """Return it as a difference of its own."""
        cause = self.one.rule.cause.id
        told = ("yes", self.other) if self.ill == 0 else (self.other, "yes")
        looks = (self.one.evidence, ()) if self.ill == 0 else ((), self.one.evidence)
        plain = Difference(cause.replace("_", " "), *told, "finding", weight=6, looks=looks)
        return replace(self.beside(plain), open_yet=self.other == _NOT_CHECKED)

    def gain(self) -> Gain | None:
        """Return what the second side gains by it; None where the rule puts no figure to it."""
        effect = self.one.finding.effect
        losses = [
            of_percents(pct) if pct else None for pct in (effect.decode_pct, effect.prefill_pct)
        ]
        if losses == [None, None]:
            return None
        lost = Gain(losses[0], losses[1])  # of the first side against itself made well
        return lost.turned() if self.ill == 0 else lost


def alone(side: Side, other: Side, ill: int) -> Iterator[Lone]:
    """Yield the costly findings that only one of the two has."""
    theirs = {one.rule.cause.id for one in (*other.verdict.findings, *other.verdict.asides)}
    for one in side.verdict.findings:
        cause = one.rule.cause.id
        if not one.benign and one.category != "at_ceiling" and cause not in theirs:
            yield Lone(one, ill, _elsewhere(other.verdict, cause), cause == side.verdict.cause)


def _elsewhere(verdict: Verdict, cause: str) -> str:
    """Say what is known of a cause where it was not found."""
    open_yet = any(one.rule.cause.id == cause for one in verdict.unchecked)
    return _NOT_CHECKED if open_yet else "no"
