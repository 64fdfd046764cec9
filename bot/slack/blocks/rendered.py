"""What Slack is given for one message: its blocks, and a text that stands alone without them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Block = dict[str, Any]
Element = dict[str, Any]

MARK = "psl:"  # begins the first block's id of every message of ours


@dataclass(frozen=True)
class Rendered:
    """`text` is mrkdwn, for notifications and for who sees no blocks; `blocks` may be empty."""

    text: str
    blocks: list[Block]


def mark(key: str) -> str:
    """Return the block id by which a message of ours is found again in its thread.

    A key has at most 200 characters; Slack allows 255 for a block_id
    (https://docs.slack.dev/reference/block-kit/blocks).
    """
    return f"{MARK}{key}"[:255]


def marked(message: Mapping[str, Any], key: str) -> bool:
    """Say whether a message of a history carries that mark; an edit may have added a word to it."""
    ours = re.compile(re.escape(mark(key)) + r"(?::\w+)?")
    blocks = message.get("blocks") or ()
    return any(ours.fullmatch(str(block.get("block_id") or "")) for block in blocks)
