"""Our Home tab, and the greeting where somebody opens a conversation with us."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING

from bot.desk.itself import greeting, prompts
from bot.letter import Letter
from bot.narrator import Line
from bot.slack.api.patience import ask_slack
from bot.slack.api.troubles import Refused, SlackTrouble
from bot.slack.api.wire import Wire
from bot.slack.blocks.home import home
from bot.slack.reception.bodies import Opened
from bot.slack.reception.seen_by import SeenBy

if TYPE_CHECKING:
    from bot.store import Store

_LOG = logging.getLogger("perfsleuth.slack")


class Home:
    """Published each time it is opened, with what that person may see."""

    def __init__(self, store: Store, wire: Wire, seen_by: SeenBy) -> None:
        self._store = store
        self._wire = wire
        self._seen_by = seen_by

    async def publish(self, user: str) -> None:
        """Show the Home of a person; a refusal of Slack is told in the log by name alone."""
        seen = await asyncio.to_thread(self._seen_by.look, user, "")
        view = home(seen.hosts, seen.last, seen.open)
        try:
            await ask_slack(self._wire, "views.publish", user_id=user, view=view)
        except SlackTrouble as why:
            _LOG.warning("the Home tab cannot be shown: %s", why)

    async def greet(self, opened: Opened, incoming_id: str) -> None:
        """Say hello in a new conversation and suggest what to ask; who may not ask is told so."""
        look = partial(self._seen_by.look, opened.user, opened.channel, act="greet")
        seen = await asyncio.to_thread(look)
        refused = (Line("text", seen.refusal),) if seen.refusal else ()
        letter = Letter(
            key=f"say:{incoming_id}",
            kind="word",
            channel=opened.channel,
            thread=opened.thread,
            parts=refused or greeting(seen.hosts),
        )
        await asyncio.to_thread(self._store.letters.add, letter)
        if refused:
            return
        try:
            await self._wire.hint(
                "assistant.threads.setSuggestedPrompts",
                channel_id=opened.channel,
                thread_ts=opened.thread,
                prompts=prompts(seen.hosts),
            )
        except Refused as why:
            _LOG.info("this workspace takes no suggestions (%s)", why.error)
