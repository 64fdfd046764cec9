"""What a sentence may stand on: a line that code told, and a look with its raw text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from bot.agent.checking.clauses import bare, clauses, denied
from bot.agent.checking.figures import Figure, figures
from bot.agent.checking.numerals import plain
from bot.agent.checking.parroted import joined
from bot.agent.checking.stems import stems
from tools.evidence import Evidence

Kind = Literal["cause", "true", "benign", "excluded", "open", "todo", "figure", "look", "words"]
_NEAR = 40  # characters around a number in a raw text that say what it is of
_BEGUN, _ENDING = re.compile(r"^[\w.,:+-]+"), re.compile(r"[\w.,:+-]+$")
_LINES = 40  # of a raw text that are tried for one figure
_LITERAL = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w]|\.\d)")
_RAW = 2 << 20  # characters of a raw text that are searched


@dataclass(frozen=True)
class Ground:
    """One line that we told ourselves; `looks` show it, none where it follows from arithmetic alone."""

    text: str
    kind: Kind
    looks: frozenset[str] = frozenset()

    @cached_property
    def figures(self) -> list[Figure]:
        """Return its figures."""
        return figures(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        """Return its words, without their endings."""
        return stems(plain(self.text))

    @cached_property
    def clauses(self) -> frozenset[str]:
        """Return its clauses, in lower case and without the signs around them."""
        return frozenset(map(bare, clauses(self.text)))

    @cached_property
    def denials(self) -> tuple[frozenset[str], ...]:
        """Return the words of each clause that denies."""
        return tuple(stems(one) for one in clauses(plain(self.text)) if denied(one))

    @cached_property
    def assertions(self) -> tuple[frozenset[str], ...]:
        """Return the words of each clause that does not."""
        return tuple(stems(one) for one in clauses(plain(self.text)) if not denied(one))


class Seen:
    """One look: its raw text, and what was read of it."""

    def __init__(self, evidence: Evidence) -> None:
        output = evidence.output
        self.raw = f"{output.stdout}\n{output.stderr}"[:_RAW] if output else ""
        self.failed = evidence.facts is None
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
    def stems(self) -> frozenset[str]:
        """Return its words, without their endings."""
        return stems(self.raw)

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
