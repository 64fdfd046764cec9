"""Socket Mode: connections that come back, and say when they have come back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp

_LOG = logging.getLogger("perfsleuth.slack")
_CLIENT = logging.getLogger("perfsleuth.slack.socket")
# After a hard drop the client notices within one interval (measured: 9 s with the 10 s of Bolt).
PING_S = 5.0
_STUCK_S = 20.0
_LOOK_S = 0.5
_TRY_S, _LONGEST_S = 10.0, 8.0  # one try, and the longest pause between two


LINES = 2  # Slack sends each event over one of up to ten; while one comes back the other hears


class Socket:
    """Receives until it is closed. `back` is called whenever a connection stands again."""

    def __init__(self, app: AsyncApp, app_token: str, back: Callable[[], None]) -> None:
        _CLIENT.setLevel(logging.CRITICAL)  # its errors hold addresses with tickets; we tell them
        self._lines = [_Line(app, app_token, back) for _ in range(LINES)]

    @property
    def stands(self) -> bool:
        """Say whether one of its connections stands; while the other comes back, that one hears."""
        return any(line.stands for line in self._lines)

    async def open(self) -> None:
        """Connect; return when the first connections stand, however long that takes."""
        await asyncio.gather(*(line.open() for line in self._lines))

    async def close(self) -> None:
        """Disconnect; what came before was taken."""
        await asyncio.gather(*(line.close() for line in self._lines))


class _Line:
    """One connection. `back` is called at every hello after the first.

    The client of slack-sdk 3.48 tries one address for ever, though its ticket expires; after 20 s
    without a connection we let it ask for a new one.
    """

    def __init__(self, app: AsyncApp, app_token: str, back: Callable[[], None]) -> None:
        self._handler = AsyncSocketModeHandler(app, app_token, logger=_CLIENT, ping_interval=PING_S)
        self._client = self._handler.client
        self._client.message_listeners.append(self._message)
        self._back = back
        self._hellos = 0
        self.stands = False
        self._watch: asyncio.Task[None] | None = None

    async def open(self) -> None:
        self._watch = asyncio.create_task(self._watched())
        while True:
            try:
                await self._client.connect_to_new_endpoint(force=True)
                return
            except Exception as why:  # noqa: BLE001 - whatever it is, the next try may succeed
                _LOG.warning("no connection to Slack yet (%s); I try again", type(why).__name__)
            await asyncio.sleep(_LOOK_S)

    async def close(self) -> None:
        if self._watch:
            self._watch.cancel()
        await self._client.close()  # type: ignore[no-untyped-call] # slack-sdk has none

    async def _message(self, _client: Any, message: dict[str, Any], _raw: str | None) -> None:
        if message.get("type") != "hello":
            return
        self._hellos += 1
        self.stands = True
        if self._hellos > 1:
            _LOG.info("connected to Slack again")
            self._back()

    async def _watched(self) -> None:
        """Make a lost connection anew at once, and help a client that is stuck."""
        loop = asyncio.get_running_loop()
        lost_at: float | None = None
        while True:
            await asyncio.sleep(_LOOK_S)
            if not self._hellos or await self._client.is_connected():
                self.stands = bool(self._hellos)
                lost_at = None
                continue
            self.stands = False
            if lost_at is None:
                lost_at, wait_s = loop.time(), _LOOK_S
                _LOG.warning("the connection to Slack is lost; it is made anew")
            if loop.time() - lost_at > _STUCK_S:
                self._client.wss_uri = None
                lost_at = loop.time()
            await self._again()
            wait_s = min(2 * wait_s, _LONGEST_S)
            await asyncio.sleep(wait_s)

    async def _again(self) -> None:
        """Try once; the client's own tries, one each interval, go on beside it."""
        try:
            async with asyncio.timeout(_TRY_S):
                await self._client.connect_to_new_endpoint()
        except Exception as why:  # noqa: BLE001 - whatever it is, the next try may succeed
            _LOG.debug("no connection to Slack yet (%s)", type(why).__name__)
