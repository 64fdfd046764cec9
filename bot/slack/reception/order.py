"""What overtakes the question of its thread waits for it: the desk would not know what it is about."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic, time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bot.store import Incoming, Store

WITHIN_S = 10.0  # a little more than Slack may take to tell who asked (groups.WITHIN_S); then it is left for later
GIVEN_UP_S = 600.0  # a question that is not taken up for so long holds nobody any more
_LOOK_S = 0.1


class Overtaken(Exception):
    """What the thread began with is not taken up yet."""


async def wait_for_question(
    store: Store,
    channel: str,
    thread: str,
    incoming: Incoming,
    run: Callable[..., Awaitable[Any]],
) -> None:
    """Return when the thread's question is taken up; raise Overtaken. `run` carries out a call in a thread."""
    late_s = time() - incoming.at
    until = monotonic() + WITHIN_S - late_s
    while (
        late_s < GIVEN_UP_S
        and not await run(store.runs.in_thread, channel, thread)
        and await run(store.inbox.owes, channel, thread, incoming.id)
    ):
        if monotonic() >= until:
            raise Overtaken("the question that its thread began with is not taken up yet")
        await asyncio.sleep(_LOOK_S)
