"""The one way to Slack's Web API for what we send: paced, tried once, its end told apart."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.api.outage import Outage
from bot.slack.api.pace import SOON, Pace
from bot.slack.api.troubles import ANY, Away, Refused, SlackTrouble, Throttled, trouble_of
from bot.tally import TALLY

# Slack answers in well under a second; what took this long may or may not have been done.
TIMEOUT_S = 15.0
_TIMED_OUT = 408  # says nothing of the bytes


class Wire:
    """Calls methods of the Web API. It never repeats one: whoever called knows whether it may.

    So the SDK repeats nothing: letters are tried again by the courier, edits by the trail, and what
    may be done twice by patience. Its
    AsyncConnectionErrorRetryHandler, on by default, would post a message a second time when only
    the answer was lost; its AsyncRateLimitErrorRetryHandler holds the one call and tells nobody
    else, and reads of "Retry-After: 30" the first digit (slack-sdk 3.48, read in its source).

    Make it in the event loop that it is used in.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        *,
        pace: Pace | None = None,
        outage: Outage | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self.pace = pace or Pace()
        self.outage = outage or Outage()
        self.session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=timeout_s))
        self.proxy = client.proxy
        self.base_url = client.base_url
        self.token = client.token or ""
        self._client = AsyncWebClient(
            token=client.token,
            base_url=client.base_url,
            session=self.session,
            ssl=client.ssl,
            proxy=client.proxy,
            retry_handlers=[],
        )

    @asynccontextmanager
    async def slot(
        self, method: str, channel: str | None = None, urgency: int = SOON
    ) -> AsyncIterator[None]:
        """Wait for the turn of one call, which `send` then makes inside."""
        await self.pace.turn(method, channel, urgency)
        async with self.outage.attempt():
            yield

    async def send(self, method: str, *, channel: str | None = None, **said: Any) -> dict[str, Any]:
        """Call inside a slot, and return the answer; raise SlackTrouble.

        `channel` is where a new message goes; it is sent as `channel`, unless `said` has
        `channel_id`.
        """
        if channel and "channel_id" not in said:
            said["channel"] = channel
        if self.session.closed:
            raise Away(uncertain=False)
        body: dict[str, Any] = {"json": said} if _takes_json(method) else {"params": said}
        verb = "GET" if method.endswith((".history", ".replies")) else "POST"
        try:
            answer = await self._client.api_call(method, http_verb=verb, **body)
        except ANY as why:
            trouble = trouble_of(why)
            TALLY.slack_trouble(type(trouble).__name__.lower())
            if isinstance(trouble, Throttled):
                self.pace.hold(method, channel, trouble.after_s)
            raise trouble from None
        return answer.data if isinstance(answer.data, dict) else {}

    async def call(
        self, method: str, *, channel: str | None = None, urgency: int = SOON, **said: Any
    ) -> dict[str, Any]:
        """Wait for the turn and call. Never inside a slot: it would wait for its own end."""
        async with self.slot(method, channel, urgency):
            return await self.send(method, channel=channel, **said)

    async def hint(self, method: str, **said: Any) -> bool:
        """Call where it does not matter whether it works: nothing waits for it, nothing is repeated.

        Return whether it did; raise Refused, because that says whether to try again.
        """
        if self.outage.lasts or self.pace.wait_s(method) > 0:
            return False
        try:
            await self.call(method, **said)
        except Refused:
            raise
        except SlackTrouble:
            return False
        return True

    async def put(self, url: str, data: bytes) -> None:
        """Send the bytes of a file to the address that Slack gave for them; raise SlackTrouble."""
        async with self.outage.attempt():
            try:
                async with self.session.post(url, data=data, proxy=self.proxy) as answer:
                    status = answer.status
            except ANY as why:
                raise trouble_of(why) from None
            if status == 429:
                raise Throttled(1.0)
            if 400 <= status < 500 and status != _TIMED_OUT:
                raise Refused(f"upload_{status}")  # the same bytes would be refused for ever
            if status != 200:
                raise trouble_of(aiohttp.ClientPayloadError())

    async def close(self) -> None:
        """Close the connections."""
        await self.session.close()


def _takes_json(method: str) -> bool:
    """Say whether it may be given JSON: what writes may, what reads and uploads does not.

    docs.slack.dev/apis/web-api/using-the-slack-web-api
    """
    return method != "chat.getPermalink" and method.startswith(_JSON)


_JSON = ("chat.", "views.", "assistant.", "agents.")
