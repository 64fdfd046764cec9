"""What one clause says, as it is compared: its words in their order, what turns it, whether it denies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from bot.agent.checking.clauses import denied
from bot.agent.checking.figures import Figure, figures
from bot.agent.checking.frames import framed
from bot.agent.checking.joints import Piece, pieces
from bot.agent.checking.numerals import plain
from bot.agent.checking.stems import sequence
from bot.agent.checking.turns import turns, unturned

_DET = r"(?:(?:the|a|an|its|each|every|any|all|this|these) )?"
_FREE = re.compile(  # when, where, and whose
    rf"\b(?:under|at|in|on) {_DET}([a-z][\w-]*)|\b([a-z]\w*)(?:['’]s|s['’])(?!\w)", re.IGNORECASE
)
# The second word is looked at and not taken: it may begin another pair.
_PAIR = re.compile(rf"(\S+) (?:of|and|or) (?={_DET}(\S+))", re.IGNORECASE)
_COUNT = 10  # from which on a count is a measurement; smaller ones are words: "both", "one of two"


@dataclass(frozen=True)
class Phrase:
    """A piece of a text."""

    text: str

    @cached_property
    def _plain(self) -> str:
        return plain(framed(self.text))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Return the words that carry meaning, in their order."""
        return sequence(unturned(self._plain))

    @cached_property
    def free(self) -> frozenset[str]:
        """Return the words that say when, where or whose, and may stand anywhere in a clause."""
        return frozenset(
            each for one in _FREE.findall(self._plain) for each in sequence(" ".join(one))
        )

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Return the words side by side that may change places: "card and slot", "a setting of NCCL"."""
        found = _PAIR.finditer(self._plain)
        both = ((sequence(one[1])[-1:], sequence(one[2])[:1]) for one in found)
        return frozenset((one[0], other[0]) for one, other in both if one and other)

    @cached_property
    def pieces(self) -> list[Piece]:
        """Return the pieces that it falls into."""
        return pieces(self.text)

    @cached_property
    def turns(self) -> frozenset[str]:
        """Return what turns it, and what joins its pieces."""
        joints = {one.joint for one in self.pieces[1:]} - {"add", "which"}
        return turns(framed(self.text)) | joints

    @cached_property
    def denied(self) -> bool:
        """Say whether it denies."""
        return denied(self._plain)

    @cached_property
    def figures(self) -> list[Figure]:
        """Return its figures."""
        return figures(self.text)

    @cached_property
    def measured(self) -> bool:
        """Say whether it tells a quantity, which is held to what it is said of apart."""
        return any(
            one.unit[:1] != "#" and (one.unit or one.decimals or one.value >= _COUNT)
            for one in self.figures
        )

    @cached_property
    def shared(self) -> bool:
        """Say whether it tells a share: without it, "10 % full" is no longer true."""
        return any(one.unit == "%" for one in self.figures)

    @cached_property
    def whole(self) -> bool:
        """Say whether it says something by itself."""
        return len(self.words) + any(map(str.isdigit, self.text)) > 1
