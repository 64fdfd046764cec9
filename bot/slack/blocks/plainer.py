"""The same message with less: for a workspace that does not know the newer kinds of blocks."""

from __future__ import annotations

from collections.abc import Iterator

from bot.slack.blocks.bricks import code, plain_text, rich
from bot.slack.blocks.rendered import Block, Element, Rendered

_EVERYWHERE = frozenset({"section", "rich_text", "header", "actions", "context", "divider"})


def plainer(rendered: Rendered, level: int) -> Rendered:
    """Return it at a level: 0 as it is, 1 with blocks that every workspace knows, 2 as mere text.

    At level 1 a table becomes text in columns, and the thumbs become buttons of the same action
    and values. At level 2 the mark is lost with the blocks.
    """
    if level <= 0:
        return rendered
    if level > 1:
        return Rendered(rendered.text, [])
    blocks: list[Block] = []
    for block in rendered.blocks:
        named = {"block_id": block["block_id"]} if "block_id" in block else {}
        made = [block] if block["type"] in _EVERYWHERE else list(_older(block))
        blocks += [{**one, **(named if not at else {})} for at, one in enumerate(made)]
    return Rendered(rendered.text, blocks)


def _older(block: Block) -> Iterator[Block]:
    if block["type"] == "table":
        yield rich([code(_columns(block["rows"]))])
    elif block["type"] == "context_actions":
        for element in block["elements"]:
            if element["type"] == "feedback_buttons":
                yield from map(_row, (element["positive_button"], element["negative_button"]))


def _row(thumb: Element) -> Block:
    """Return a row of its own: an action id is unique within its block."""
    button = {
        "type": "button",
        "action_id": "right",
        "text": plain_text(thumb["text"]["text"]),
        "value": thumb["value"],
    }
    return {"type": "actions", "elements": [button]}


def _columns(rows: list[list[Element]]) -> list[str]:
    texts = [[cell["text"] for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in texts) for at in range(len(texts[0]))]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in texts]
