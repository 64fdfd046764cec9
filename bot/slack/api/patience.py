"""A question to Slack that waits when it is told to wait, and not for ever; for what may be done twice."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any

from bot.slack.api.troubles import Away, SlackTrouble, Throttled
from bot.slack.api.wire import Wire

_FIRST_S, _LONGEST_S = 0.5, 5.0


async def ask_slack(
    wire: Wire, method: str, *, within_s: float = 20.0, **said: Any
) -> dict[str, Any]:
    """Call a method until it is answered; 429 and lost connections are tried again in time.

    Only for reading, publishing and setting: never for posting. Raises Refused with Slack's own
    error, and the last Throttled or Away when the time is over.
    """
    end, pause_s = monotonic() + within_s, _FIRST_S
    while True:
        try:
            async with asyncio.timeout(max(end - monotonic(), 0.1)):
                return await wire.call(method, **said)
        except Throttled as why:
            trouble: SlackTrouble = why
            wait_s = why.after_s
        except (Away, TimeoutError) as why:
            trouble = why if isinstance(why, Away) else Away(uncertain=True)
            wait_s = pause_s
        if monotonic() + wait_s >= end:
            raise trouble
        await asyncio.sleep(wait_s)
        pause_s = min(pause_s * 2, _LONGEST_S)
