"""All members of the workspace at once, for when Slack puts off the question about one."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any

from bot.slack.api.troubles import SlackTrouble
from bot.slack.api.wire import Wire

KEPT_S = 60.0
# 1000 is the most of a page (docs.slack.dev/reference/methods/users.list). In a workspace of more
# than these pages who is not among the first is asked for alone, as soon as Slack lets us.
_PAGE, _PAGES = 1000, 3


class Everybody:
    """Lists the members: another method than `users.info`, and so another limit of Slack's.

    One 429 for one stranger of a crowd holds the question about all others; one list answers them.
    What several want at the same time is asked once.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._asking: asyncio.Task[None] | None = None
        self._known: dict[str, dict[str, Any]] = {}
        self._known_at = 0.0

    async def find(self, user: str) -> dict[str, Any] | None:
        """Return a member as `users.info` would tell; None where Slack does not list them now."""
        if user in self._known and monotonic() - self._known_at < KEPT_S:
            return self._known[user]
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._list())
        await asyncio.shield(self._asking)
        return self._known.get(user)

    async def _list(self) -> None:
        """List them, as far as Slack answers now: who is missing is asked for alone."""
        found: dict[str, dict[str, Any]] = {}
        said: dict[str, Any] = {"limit": _PAGE}
        for _ in range(_PAGES):
            if self._wire.outage.lasts or self._wire.pace.wait_s("users.list") > 0:
                break
            try:
                page = await self._wire.call("users.list", **said)
            except SlackTrouble:
                break
            found |= {str(member.get("id")): member for member in page.get("members") or ()}
            said["cursor"] = (page.get("response_metadata") or {}).get("next_cursor")
            if not said["cursor"]:
                break
        self._known, self._known_at = found, monotonic()
