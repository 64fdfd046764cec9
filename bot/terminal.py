"""rich's only door: the story in a terminal, in colour where there is one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.status import Status
from rich.table import Table as RichTable
from rich.text import Text

from bot.narrator import Kind, Line, Part, Table
from tools.harmless import harmless

WIDTH = 110  # columns; longer lines are hard to read, whatever the window
_STYLE: dict[Kind, str] = {"lead": "bold", "said": "dim", "verdict": "bold", "heading": "bold"}
_INDENT: dict[Kind, int] = {"said": 4, "item": 2, "test": 2, "whole": 2, "text": 2}
_APART: frozenset[Kind] = frozenset({"heading", "verdict"})
_WORD = re.compile(r"\S+")
LONGEST = 2000  # characters of one line of the story


class Terminal:
    """Writes the story to standard output, and passing progress to standard error."""

    def __init__(self) -> None:
        self._out = Console(highlight=False, emoji=False, markup=False)
        self._out.width = min(self._out.width, WIDTH)
        self._err = Console(stderr=True, highlight=False, emoji=False, markup=False)
        self._waiting: Status | None = None

    def tell(self, parts: Iterable[Part]) -> None:
        """Write the parts as they come; what came of a look stands beside it where there is room."""
        look: Line | None = None
        for part in parts:
            if look is not None:
                beside = isinstance(part, Line) and part.kind == "said" and self._fits(look, part)
                self._line(look, part.text if beside and isinstance(part, Line) else "")
                look = None
                if beside:
                    continue
            if isinstance(part, Table):
                self._out.print(Padding(_table(part), (1, 0, 1, 2), expand=False))
            elif part.kind in ("look", "trouble"):
                look = part
            else:
                self._line(part)
        if look is not None:
            self._line(look)

    def _fits(self, look: Line, said: Line) -> bool:
        return len(_text(look, said.text)) <= self._out.width

    def wait(self, text: str) -> None:
        """Show that something is going on, until `rest`; on a terminal alone."""
        if self._err.is_terminal:
            self._waiting = self._err.status(Text(_shown(text), style="dim"))
            self._waiting.start()

    def rest(self) -> None:
        """Take away what `wait` shows."""
        if self._waiting:
            self._waiting.stop()
            self._waiting = None

    def _line(self, line: Line, said: str = "") -> None:
        if line.kind in _APART:
            self._out.print()
        indent = _INDENT.get(line.kind, 0)
        width = LONGEST if line.kind in ("test", "whole") else self._out.width - indent
        for row in _rows(_text(line, said), width):
            row.rstrip()  # a story that is pasted into a ticket carries no blanks
            self._out.print(Text.assemble(" " * indent, row), soft_wrap=True)


def _rows(text: Text, width: int) -> Iterable[Text]:
    """Break between words alone: a command that is longer than a line is there to be copied."""
    breaks, start = [], 0
    for word in _WORD.finditer(text.plain):
        if word.end() - start > width and word.start() > start:
            breaks.append(word.start())
            start = word.start()
    return text.divide(breaks)


def _text(line: Line, said: str = "") -> Text:
    text = Text()
    if line.kind == "look":
        text.append("✓ ", style="green")
    if line.kind == "trouble":
        text.append("– ", style="yellow")
    text.append(_shown(line.text), style=_STYLE.get(line.kind, ""))
    if said:
        text.append(": " + _shown(said), style="dim")
    if line.took_s:
        text.append(f" · {line.took_s:.1f} s", style="dim")
    if line.cites:
        text.append("  " + " ".join(line.cites), style="cyan")
    return text


def _shown(text: str) -> str:
    """Take away what would steer the terminal: text from hosts is data."""
    return harmless(text[:LONGEST]) + ("…" if len(text) > LONGEST else "")


def _table(table: Table) -> RichTable:
    shown = RichTable(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
        padding=(0, 1, 0, 0),
        header_style="dim",
    )
    for title in table.head:
        shown.add_column(title)
    for row in table.rows:
        shown.add_row(*map(_shown, row))
    return shown
