"""The parts of a story: lines and tables, without colours or a medium."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "lead", "look", "trouble", "said", "verdict", "heading", "item", "test", "whole", "text",
]  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One line of a story. `cites` are evidence ids, `took_s` seconds for a look.

    A "test" holds a command to copy, so it stays one line; "whole" is one that few read, told last.
    """

    kind: Kind
    text: str = ""
    cites: tuple[str, ...] = ()
    took_s: float | None = None


@dataclass(frozen=True)
class Table:
    """A small table; the first cell of each row names it."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Part = Line | Table
