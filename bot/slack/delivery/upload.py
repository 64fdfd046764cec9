"""Files of ours, into a thread: evidence and log lines as snippets, charts as images."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from bot.letter import Attached, Letter
from bot.slack.api.wire import Wire
from bot.slack.blocks.safe import label

Content = Callable[[Attached], bytes | None]
"""Makes a file, in a thread of its own; None: there is nothing to show, and nothing is sent."""
_NAME = 200
_SAID = 1000  # an alt text may have so many (docs.slack.dev/reference/methods/files.getUploadURLExternal)


async def share(
    wire: Wire, letter: Letter, content: Content, claim: Callable[[], Awaitable[bool]]
) -> str | None:
    """Upload and share; return an id, "" where there was nothing; None: another process has it.

    The two steps that upload show nothing to anybody, so they may be repeated; the third one
    shares, and is what the letter is claimed for. Raises SlackTrouble.
    """
    attached = letter.attached
    data = await asyncio.to_thread(content, attached) if attached else None
    if attached is None or not data:
        return "" if await claim() else None
    asked: dict[str, Any] = {"filename": attached.name, "length": len(data)}
    if attached.kind == "chart":
        asked["alt_txt"] = label(attached.alt, _SAID)
    else:
        asked["snippet_type"] = "text"
    upload = await wire.call("files.getUploadURLExternal", **asked)
    await wire.put(str(upload["upload_url"]), data)
    said = {"thread_ts": letter.thread} if letter.thread else {}
    named = json.dumps([{"id": upload["file_id"], "title": label(attached.title, _NAME)}])
    method = "files.completeUploadExternal"
    async with wire.slot(method, letter.channel):
        if not await claim():
            return None
        await wire.send(
            method, channel=letter.channel, channel_id=letter.channel, files=named, **said
        )
    return str(upload["file_id"])
