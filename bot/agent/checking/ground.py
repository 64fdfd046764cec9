"""What a sentence may stand on: a line that code told, and a look with its raw text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

from bot.agent.checking.figures import Figure, figures
from bot.agent.checking.frames import framed
from bot.agent.checking.joints import pieces
from bot.agent.checking.numerals import plain
from bot.agent.checking.parroted import joined
from bot.agent.checking.phrase import Phrase
from bot.agent.checking.stems import alike, stems
from bot.agent.checking.turns import WHY
from tools.engine.source_tree import SourceTexts
from tools.evidence import Evidence

Kind = Literal["cause", "true", "benign", "excluded", "open", "todo", "figure", "look", "words"]
Part = Literal["", "state", "cost", "step", "gone", "open", "why"]
_IT = re.compile(r"\b(?:it|its|they|them)\b", re.IGNORECASE)
_NEAR = 40  # characters around a number in a raw text that say what it is of
_BEGUN, _ENDING = re.compile(r"^[\w.,:+-]+"), re.compile(r"[\w.,:+-]+$")
_LINES = 40  # of a raw text that are tried for one figure
_LITERAL = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w]|\.\d)")
_RAW = 2 << 20  # characters of a raw text that are searched


class Unit(NamedTuple):
    """One piece of a line: what it says, what joins it to the one before it, and whether a mark does."""

    said: Phrase
    joint: str
    marked: bool


@dataclass(frozen=True)
class Ground:
    """One line that we told ourselves; `looks` show it, none where it follows from arithmetic alone.

    `of` is the cause that it belongs to, and `part` what it is of that cause: lines of one cause explain each other.
    """

    text: str
    kind: Kind
    looks: frozenset[str] = frozenset()
    of: str = ""
    part: Part = ""
    about: frozenset[str] = frozenset()  # what "it" is, where a line says so

    @cached_property
    def figures(self) -> list[Figure]:
        """Return its figures."""
        return figures(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        """Return its words, without their endings."""
        return stems(plain(self.text)) | frozenset(word for word, _ in self.words)

    def tells(self, number: str) -> bool:
        """Say whether it tells a number."""
        return any(alike(number, word) for word, _ in self.words)

    @cached_property
    def meant(self) -> frozenset[str]:
        """Return the words that may be said for its "it"."""
        return self.about if _IT.search(self.text) else frozenset()

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """Return its pieces."""
        text = framed(self.text)
        cut = enumerate(pieces(text))
        return tuple(
            Unit(Phrase(one.of(text)), one.joint, bool(n) and one.marked) for n, one in cut
        )

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Return its words that may change places."""
        return Phrase(framed(self.text)).pairs

    @cached_property
    def words(self) -> tuple[tuple[str, int], ...]:
        """Return its words in their order, each with the number of its piece."""
        return tuple((word, n) for n, one in enumerate(self.units) for word in one.said.words)

    @cached_property
    def sides(self) -> tuple[tuple[Ground, Ground], ...]:
        """Return what it says and why, for each place at which it says so: "B, so A", "A because B", "A: B"."""
        text, made = framed(self.text), list[tuple[Ground, Ground]]()
        for one in pieces(text)[1:]:
            if one.joint in WHY or one.marked:
                before = replace(self, text=text[: one.start])
                after = replace(self, text=text[one.start :])
                made += [(before, after)] if one.joint == "cause" else []
                made += [(after, before)] if one.joint == "so" else []
                made += [(before, after), (after, before)] if one.joint == "add" else []
        return tuple(made)


def _names_in(source: SourceTexts) -> str:
    """Return a source for the names in it: what its figures count is not what a sentence counts."""
    texts = (text.decode("utf-8", "replace") for text in source.contents.values())
    return re.sub(r"\d+", "", "\n".join(texts))


class Seen:
    """One look: its raw text, and what was read of it."""

    def __init__(self, evidence: Evidence) -> None:
        output = evidence.output
        self.raw = f"{output.stdout}\n{output.stderr}"[:_RAW] if output else ""
        if isinstance(evidence.facts, SourceTexts):
            self.raw = _names_in(evidence.facts)[:_RAW]
        self._evidence = evidence

    @cached_property
    def text(self) -> str:
        """Return all of it in lower case, blanks made one."""
        told = [self.raw, self._evidence.source, self._evidence.trouble, self._evidence.note]
        return " ".join(" ".join(told).lower().split())

    @cached_property
    def joined(self) -> str:
        """Return its bare words."""
        return joined(self.text)

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Return where each number stands."""
        places: dict[str, list[int]] = {}
        for found in _LITERAL.finditer(self.raw):
            if len(at := places.setdefault(found[0], [])) < _LINES:
                at.append(found.start())
        return places

    def lines_with(self, figure: Figure) -> Iterator[str]:
        """Yield what stands around each number which this figure may be, in its line."""
        scale = 1000 if figure.kilo else 1
        for number, places in self._places.items():
            value = float(number) / scale
            if value == figure.value or round(value, figure.decimals) == figure.value:
                yield from (self._around(at, len(number)) for at in places)

    def _around(self, at: int, length: int) -> str:
        start = max(self.raw.rfind("\n", 0, at) + 1, at - _NEAR)
        stop = at + length + _NEAR
        end = self.raw.find("\n", at, stop)
        cut = self.raw[start : stop if end < 0 else end]
        cut = cut if self.raw[start - 1 : start] in ("", "\n") else _BEGUN.sub("", cut)
        return cut if end >= 0 else _ENDING.sub("", cut)  # half a number is another number
