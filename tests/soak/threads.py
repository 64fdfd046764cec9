"""What the bot said in a thread, told apart by the mark that each of its messages carries."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.fakes import FakeSlack, Message


def marks(message: Message) -> str:
    """Return the letter that a message is: run:17:verdict."""
    for block in message.blocks or ():
        mark = str(block.get("block_id", ""))
        if mark.startswith("psl:"):
            return mark.removeprefix("psl:")
    return ""


def kinds(slack: FakeSlack, asked: Message) -> Counter[str]:
    """Count what was said in answer to a message: trail, verdict, answer, word ..."""
    said: Counter[str] = Counter()
    for message in slack.replies(asked.channel, asked.thread_ts or asked.ts):
        mark = marks(message)
        said[mark.split(":")[2] if mark.startswith("run:") else mark.split(":")[0] or "file"] += 1
    return said


def text_of(blocks: Any) -> str:
    """Return all text of blocks, however deep."""
    if isinstance(blocks, dict):
        return " ".join(text_of(value) for key, value in blocks.items() if key != "block_id")
    if isinstance(blocks, list):
        return " ".join(map(text_of, blocks))
    return blocks if isinstance(blocks, str) else ""
