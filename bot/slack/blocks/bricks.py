"""The blocks that messages are built of, each within Slack's limits for its kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.narrator import Table
from bot.slack.blocks.rendered import Block, Element
from bot.slack.blocks.safe import shown, size

# https://docs.slack.dev/reference/block-kit/blocks
HEADER = 150
CONTEXT = 2000  # a text object holds 3000
SECTION = 2900
ROWS, COLUMNS = 30, 8  # of a table; Slack takes 100 and 20, a person fewer
CELL = 120

BLOCK = 130  # characters that Slack counts for a block beside its text; a divider was measured: 125
_LEAF = 20
_FORM = frozenset({"type", "style"})


def header(text: str) -> Block:
    """Return a headline of up to 150 characters."""
    return {"type": "header", "text": plain_text(shown(text, HEADER))}


def plain_text(text: str) -> Element:
    """Return a text object that Slack does not parse; `:name:` stays as it is written."""
    return {"type": "plain_text", "text": text or "–", "emoji": False}


def context(text: str) -> Block:
    """Return a small grey line."""
    return {"type": "context", "elements": [plain_text(shown(text, CONTEXT))]}


def folded(text: str) -> Block:
    """Return a long text of which Slack shows the beginning, and the rest to who wants it ("see more").

    https://docs.slack.dev/reference/block-kit/blocks/section-block, `expand`
    """
    return {"type": "section", "text": plain_text(shown(text, SECTION))}


def rich(elements: Sequence[Element]) -> Block:
    """Return a block of sections, lists, quotes and code."""
    return {"type": "rich_text", "elements": list(elements)}


def section(leaves: Sequence[Element]) -> Element:
    """Return a paragraph."""
    return {"type": "rich_text_section", "elements": list(leaves)}


def quote(leaves: Sequence[Element]) -> Element:
    """Return a paragraph behind a bar."""
    return {"type": "rich_text_quote", "elements": list(leaves)}


def code(lines: Sequence[str]) -> Element:
    """Return lines to be copied."""
    text = {"type": "text", "text": "\n".join(lines)}
    return {"type": "rich_text_preformatted", "elements": [text]}


def listed(items: Sequence[Element], *, first: int = 0) -> Element:
    """Return sections as a list, numbered from `first` on, or with bullets where it is 0."""
    made = {"type": "rich_text_list", "style": "ordered" if first else "bullet"}
    start = {"offset": first - 1} if first > 1 else {}
    return {**made, "indent": 0, **start, "elements": list(items)}


def table(part: Table) -> Block:
    """Return a table; Slack refuses an empty cell, so each says something.

    https://docs.slack.dev/reference/block-kit/blocks/table-block
    """
    rows = [part.head, *part.rows[: ROWS - 1]]
    wide = max(1, *(min(len(row), COLUMNS) for row in rows))
    even = [(*row[:wide], *[""] * (wide - len(row))) for row in rows]
    return {
        "type": "table",
        "column_settings": [{"is_wrapped": True} for _ in range(wide)],
        "rows": [
            [_cell(text, "–" if at else "figure") for text in row] for at, row in enumerate(even)
        ],
    }


def _cell(text: str, empty: str) -> Element:
    """A number and its per cent sign stay on one line, however narrow a column is."""
    told = shown(text, CELL).replace(" %", "\N{NO-BREAK SPACE}%")
    return {"type": "raw_text", "text": told or empty}


def cost(block: Any) -> int:
    """Return what a block counts for against the limit of a whole message.

    Slack refuses messages beyond about 13 200 characters (https://github.com/slackapi/bolt-js/issues/2509)
    and does not say how it counts; blocks and addresses are counted here as well.
    """
    return BLOCK + weight(block)


def weight(part: Any) -> int:
    """Return what the texts and elements within a part count for."""
    if isinstance(part, list):
        return sum(map(weight, part))
    if isinstance(part, dict):
        return _LEAF + sum(weight(value) for key, value in part.items() if key not in _FORM)
    return size(part) if isinstance(part, str) else 0


def letters(part: Any) -> int:
    """Return how many characters of a part are to be read."""
    if isinstance(part, list):
        return sum(map(letters, part))
    if isinstance(part, dict):
        own = part.get("text")
        inner = sum(letters(value) for value in part.values() if isinstance(value, dict | list))
        return inner + (size(own) if isinstance(own, str) else 0)
    return 0
