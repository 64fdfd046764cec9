"""A reply that overtakes the question of its thread waits for it: the desk would not know what it is about."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

from bot.message import Message

if TYPE_CHECKING:
    from bot.store import Store

WITHIN_S = 3.0  # after that it is left for later: who asked may be unknown to Slack for long
_LOOK_S = 0.1


class Overtaken(Exception):
    """What the thread began with is not taken up yet."""


async def wait_for_question(
    store: Store, message: Message, incoming_id: str, run: Callable[..., Awaitable[Any]]
) -> None:
    """Return when a message may be heard; raise Overtaken. `run` carries out a call in a thread."""
    if message.thread == message.ts:
        return
    until = monotonic() + WITHIN_S
    place = message.channel, message.thread
    while not await run(store.runs.in_thread, *place) and await run(
        store.inbox.owes, *place, incoming_id
    ):
        if monotonic() > until:
            raise Overtaken("the question that its thread began with is not taken up yet")
        await asyncio.sleep(_LOOK_S)
