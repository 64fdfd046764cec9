"""That we are at work: the line under a thread, and the state of its agent session; best effort."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from bot.slack.api.troubles import NO_SUCH, Refused
from bot.slack.api.wire import Wire
from bot.slack.blocks.safe import label

# The line vanishes 2 minutes after it was set, and when we post
# (docs.slack.dev/reference/methods/assistant.threads.setStatus).
REFRESH_S = 90.0
_SETTLE_S = 1.0
FORGET_S = 3600.0  # a workspace that has not got a method is not asked again for so long
_LINE, _SESSION = "assistant.threads.setStatus", "agents.sessions.setStatus"
_TITLE = 200
_MEANWHILE = ("Asking the host…", "Reading what it answered…", "Ruling out what it is not…")


class Missing:
    """Methods that this workspace has not got, remembered for an hour."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._until: dict[str, float] = {}

    def has(self, method: str) -> bool:
        """Say whether it is missing."""
        return self._until.get(method, 0.0) > self._now()

    def note(self, method: str) -> None:
        """It was refused."""
        self._until[method] = self._now() + FORGET_S


class Status:
    """Shows and clears both signs of a thread. Every call returns at once, and no failure matters."""

    def __init__(self, wire: Wire, missing: Missing) -> None:
        self._wire = wire
        self._missing = missing
        self._tasks: set[asyncio.Task[None]] = set()

    def working(self, channel: str, thread: str, said: str, title: str = "") -> None:
        """Show what we do: `said` follows our name, "is looking at CT129"."""
        where = {"channel_id": channel, "thread_ts": thread}
        self._hint(_LINE, **where, status=label(said, _TITLE), loading_messages=list(_MEANWHILE))
        named = {"title": label(title, _TITLE)} if title else {}
        self._hint(_SESSION, **where, status="processing", **named)

    def still(self, channel: str, thread: str, said: str) -> None:
        """Show the line again: it was cleared by a message of ours, or will vanish."""
        self._hint(_LINE, channel_id=channel, thread_ts=thread, status=label(said, _TITLE))

    def over(self, channel: str, thread: str) -> None:
        """Clear the line; the session waits for what the person says next."""
        self._hint(_LINE, channel_id=channel, thread_ts=thread, status="")
        self._hint(_SESSION, channel_id=channel, thread_ts=thread, status="active")

    async def settle(self) -> None:
        """Let the hints that are under way end, for a moment."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_SETTLE_S)
        for task in self._tasks:
            task.cancel()

    def _hint(self, method: str, **said: Any) -> None:
        if self._missing.has(method):
            return
        task = asyncio.create_task(self._once(method, said))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _once(self, method: str, said: dict[str, Any]) -> None:
        try:
            await self._wire.hint(method, **said)
        except Refused as why:
            if why.error in NO_SUCH:
                self._missing.note(method)
