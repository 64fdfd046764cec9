"""A story as blocks: the most important first, within what one message may hold, the rest counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from bot.narrator import Line, Part, Table
from bot.slack.blocks.bricks import (
    BLOCK,
    code,
    cost,
    folded,
    header,
    letters,
    listed,
    quote,
    rich,
    section,
    table,
    weight,
)
from bot.slack.blocks.headline import lead_first, parted
from bot.slack.blocks.pieces import Piece, piece
from bot.slack.blocks.rendered import Block, Element

ROOM = 11_400  # characters of a whole message, as `cost` counts them: with addresses and blocks
LETTERS = 9000  # characters that are to be read
MOST = 45  # blocks; Slack takes 50
OF_A_CHAPTER = 10  # lines under one heading, so that forty findings do not push out what follows
_CHAPTER = 2600  # characters under one heading
_LINKS = 8  # whose addresses take room, some 90 characters each; later ids are told without


class Story:
    """Takes parts in their order as long as there is room. `left_out` counts what found none.

    `reserve` are blocks that follow the story and must fit as well.
    """

    def __init__(self, links: Mapping[str, str], *, reserve: Sequence[Block] = ()) -> None:
        self._all_links, self._linked = links, 0
        self._room = ROOM - sum(map(cost, reserve))
        self._letters = LETTERS - letters(list(reserve))
        self._most = MOST - len(reserve)
        self._blocks: list[Block] = []
        self._pieces: list[Piece] = []
        self._heading: Piece | None = None
        self._told, self._spent, self._tables = 0, 0, 0
        self._quoting = False
        self.left_out = 0

    def blocks(self, parts: Sequence[Part]) -> list[Block]:
        """Return the parts as blocks."""
        for part in lead_first(parts):
            if isinstance(part, Table):
                self._table(part)
            elif part.kind == "verdict":
                self._verdict(part)
            elif part.kind == "heading":
                self._chapter(piece(part, self._links()))
            elif part.kind == "whole":
                self._whole(part)
            else:
                self._line(part)
        self._chapter(None)
        return self._blocks

    def _verdict(self, line: Line) -> None:
        self._chapter(None)
        top, rest = parted(line)
        if top and not self._put(header(top)):
            rest = line
        self._line(rest)
        self._quoting = True

    def _chapter(self, heading: Piece | None) -> None:
        """End what was written, and begin anew under a heading or none."""
        if self._heading and not self._told:  # nothing stands below it: it says it all
            self._add([self._heading])
        self._close()
        self._heading, self._told, self._spent = heading, 0, 0
        self._quoting = False

    def _line(self, line: Line) -> None:
        made = piece(line, self._links(), quoted=self._quoting and line.kind == "said")
        if made is None:
            return
        full = self._told >= OF_A_CHAPTER or self._spent > _CHAPTER
        if full or not self._add([one for one in (self._heading, made) if one]):
            self.left_out += 1
        else:
            self._heading = None
        self._told += 1

    def _table(self, part: Table) -> None:
        self._quoting = False
        self._close()
        if self._tables or not self._put(table(part)):
            self.left_out += len(part.rows)
        else:
            self._tables += 1

    def _whole(self, line: Line) -> None:
        """Tell what few read in a block that Slack folds, below its heading."""
        if self._heading:
            self._add([self._heading])
            self._heading = None
        self._close()
        if not self._put(folded(line.text)):
            self.left_out += 1
        self._told += 1

    def _add(self, pieces: Sequence[Piece]) -> bool:
        """Write into the open block of rich text, or a new one; say whether it fitted."""
        elements = list(_elements(pieces))
        price = weight(elements) + (0 if self._pieces else BLOCK)
        fits = self._pay(price, elements, new=not self._pieces)
        if fits:
            self._pieces += pieces
            self._spent += price
            self._linked += sum(leaf["type"] == "link" for one in pieces for leaf in one.leaves)
        return fits

    def _links(self) -> Mapping[str, str]:
        return self._all_links if self._linked < _LINKS else {}

    def _put(self, block: Block) -> bool:
        fits = self._pay(cost(block), block, new=True)
        if fits:
            self._blocks.append(block)
        return fits

    def _pay(self, price: int, part: Any, *, new: bool) -> bool:
        read = letters(part)
        if price > self._room or read > self._letters or (new and len(self._blocks) >= self._most):
            return False
        self._room -= price
        self._letters -= read
        return True

    def _close(self) -> None:
        if self._pieces:
            self._blocks.append(rich(list(_elements(self._pieces))))
        self._pieces = []


def _elements(pieces: Sequence[Piece]) -> Iterator[Element]:
    """Join points into lists and commands into one piece of code."""
    for form, group in groupby(pieces, key=lambda one: one.form):
        same = list(group)
        if form == "code":
            yield code([one.text for one in same])
        elif form in ("bullet", "number"):
            first = same[0].number
            yield listed([section(one.leaves) for one in same], first=first)
        elif form == "quote":
            yield from (quote(one.leaves) for one in same)
        else:
            yield from (section(one.leaves) for one in same)
