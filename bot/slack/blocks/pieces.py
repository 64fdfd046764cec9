"""One part of a story as a piece of rich text: paragraph, point of a list, quote, or code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bot.narrator import Line
from bot.slack.blocks.rendered import Element
from bot.slack.blocks.safe import shown
from bot.slack.blocks.spans import cited, plain, spans

Form = Literal["paragraph", "bullet", "number", "quote", "code"]

CODE = 1500  # characters of a command to copy, which a cut would make wrong

_NUMBER = re.compile(r"(\d{1,3})\. ")
_SIGNS = {"look": "✓ ", "trouble": "– "}
# our own hints for a terminal, and what stands for them where people press buttons
_HINTS = (
    ("; --json lists them.", "; ask “why not …?” about any of them."),
    (" are open: --json lists them.", " are open."),
    ("Keep what they print in a file, for `perfsleuth diagnose`.", "Paste what they print here."),
)


@dataclass(frozen=True)
class Piece:
    """`leaves` are the elements of one line; of code `text` is the line itself.

    `number` is what an ordered list would show here.
    """

    form: Form
    leaves: tuple[Element, ...] = ()
    text: str = ""
    number: int = 0


def said(line: Line) -> str:
    """Return what a line says, with our hints for a terminal made hints for a thread."""
    text = line.text
    for hint, instead in _HINTS:
        text = text.replace(hint, instead)
    return text


def piece(line: Line, links: Mapping[str, str], *, quoted: bool = False) -> Piece | None:
    """Return a line as a piece, `quoted` where it repeats what a host said; None if it is empty."""
    if line.kind == "test":
        text = shown(line.text, CODE)
        return Piece("code", text=text) if text else None
    text, number = said(line), 0
    if line.kind == "item" and (found := _NUMBER.match(text)):
        text, number = text[found.end() :], int(found[1])
    leaves = _leaves(line, text, links, quoted=quoted)
    form = _form(line, number, quoted=quoted)
    return Piece(form, tuple(leaves), number=number) if leaves else None


def _form(line: Line, number: int, *, quoted: bool) -> Form:
    if line.kind == "item":
        return "number" if number else "bullet"
    return "quote" if quoted else "paragraph"


def _leaves(line: Line, text: str, links: Mapping[str, str], *, quoted: bool) -> list[Element]:
    strong = line.kind in ("lead", "verdict", "heading", "look", "trouble")
    made = spans(text, links, bold=strong, italic=line.kind == "said" and not quoted)
    if not made:
        return []
    if sign := _SIGNS.get(line.kind):
        made.insert(0, plain(sign))
    if line.took_s:
        made.append(plain(f" · {line.took_s:.1f} s"))
    if line.cites:
        made += [plain("  "), *cited(line.cites, links)]
    return made
