"""A story as mere text: for notifications, screen readers, and where Slack refuses the blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bot.narrator import Part, Table
from bot.slack.blocks.headline import lead_first
from bot.slack.blocks.pieces import said
from bot.slack.blocks.safe import capped, mrkdwn

LONGEST = 3000  # characters; Slack takes 40 000 (https://docs.slack.dev/reference/methods/chat.postMessage)
_LINE = 600
_BEFORE = {"heading": "\n", "item": "• ", "look": "✓ ", "trouble": "– "}


def text_of(parts: Sequence[Part]) -> str:
    """Return the parts as mrkdwn that mentions nobody and links nowhere. It ends at a whole line."""
    return whole(_lines(parts))


def whole(lines: Iterable[str]) -> str:
    """Join escaped lines as long as they fit."""
    kept: list[str] = []
    room = LONGEST - 2  # for the mark of what is missing
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            kept.append("…")
            break
        kept.append(line)
    return "\n".join(kept).strip() or "–"


def _lines(parts: Sequence[Part]) -> Iterator[str]:
    for part in lead_first(parts):
        if isinstance(part, Table):
            yield from (mrkdwn(capped(row, _LINE)) for row in _rows(part))
        elif text := said(part):
            numbered = part.kind == "item" and text[:1].isdigit() and ". " in text[:5]
            before = "" if numbered else _BEFORE.get(part.kind, "")
            cites = f" ({' '.join(part.cites)})" if part.cites else ""
            yield before + mrkdwn(capped(text, _LINE) + capped(cites, 100))


def _rows(table: Table) -> Iterator[str]:
    for row in table.rows:
        named = zip(table.head[1:], row[1:], strict=False)
        told = ", ".join(
            cell
            if cell.rstrip().endswith(".")
            else f"{head} {cell}".strip()  # a sentence needs no name
            for head, cell in named
            if cell
        )
        yield f"{row[0] if row else ''}: {told}"
