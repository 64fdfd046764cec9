"""Look into a thread for a message of ours, after its answer was lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from bot.letter import Letter
from bot.slack.api.troubles import Refused
from bot.slack.api.wire import Wire
from bot.slack.blocks import marked

# A page holds at most 1000 (docs.slack.dev/reference/methods/conversations.replies); the pages
# read bound what one lost answer can cost in a channel that is never quiet.
_PAGE, _PAGES = 200, 10


async def find(wire: Wire, letter: Letter) -> str | None:
    """Return the ts of the message that holds this letter; None where it has not arrived.

    Raises Throttled and Away: without an answer nothing may be posted again. Where Slack refuses to
    show the thread nobody can know; then None, for a word said twice is better than one never said.
    """
    if letter.only_for:
        return None  # what one user alone sees is in no history
    try:
        async for message in _messages(wire, letter):
            if holds(message, letter):
                return str(message.get("ts") or "")
    except Refused:
        return None
    return None


def holds(message: dict[str, Any], letter: Letter) -> bool:
    """Say whether a message is this letter: by its blocks' mark, or by its file's name."""
    if letter.attached:
        return any(f.get("name") == letter.attached.name for f in message.get("files") or ())
    return marked(message, letter.key)


async def _messages(wire: Wire, letter: Letter) -> AsyncIterator[dict[str, Any]]:
    said: dict[str, Any] = {"channel": letter.channel, "limit": _PAGE}
    if letter.thread:
        method, said["ts"] = "conversations.replies", letter.thread
    else:
        method = "conversations.history"
    for _ in range(_PAGES):
        page = await wire.call(method, **said)
        for message in page.get("messages") or ():
            yield message
        cursor = (page.get("response_metadata") or {}).get("next_cursor")
        if not cursor:
            return
        said["cursor"] = cursor
