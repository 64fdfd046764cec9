"""HTTP mode: events, interactions and commands posted to the app's own address, signed."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
import urllib.parse
from typing import Any

import aiohttp

from bot.demo.workspace.record import Delivery, Try
from bot.demo.workspace.settings import Settings


class RequestUrl:
    """Posts as Slack does; `secret` and `age_s` may be wrong on purpose."""

    def __init__(self, url: str, settings: Settings) -> None:
        self.url, self.settings = url, settings
        self.secret = settings.signing_secret
        self.age_s = 0
        self.statuses: list[int] = []
        self._session: aiohttp.ClientSession | None = None

    def headers(self, body: str, content_type: str) -> dict[str, str]:
        """Time stamp and v0 signature: https://docs.slack.dev/authentication/verifying-requests-from-slack."""
        stamp = str(int(time.time()) - self.age_s)
        digest = hmac.new(
            self.secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256
        ).hexdigest()
        return {
            "Content-Type": content_type,
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": f"v0={digest}",
        }

    async def send(self, delivery: Delivery, tried: Try, reason: str) -> dict[str, Any] | None:
        """One try; None when it was not acked with a 200 in time."""
        body, content_type = _encoded(delivery)
        headers = self.headers(body, content_type)
        if tried.attempt:
            headers |= {"X-Slack-Retry-Num": str(tried.attempt), "X-Slack-Retry-Reason": reason}
        status, text = await self.post(body, headers)
        tried.failed = _WHY.get(status, "" if status == 200 else "http_error")
        if status != 200:
            return None
        try:
            answer = json.loads(text)
        except ValueError:
            return {"text": text} if text else {}
        return answer if isinstance(answer, dict) else {}

    async def post(self, body: str, headers: dict[str, str]) -> tuple[int, str]:
        """Status and text; 0 when it did not answer in time, -1 when it could not be reached."""
        if self._session is None:
            self._session = aiohttp.ClientSession()
        limit = aiohttp.ClientTimeout(total=self.settings.ack_s)
        status, text = -1, ""
        try:
            async with self._session.post(
                self.url, data=body.encode(), headers=headers, timeout=limit
            ) as response:
                status, text = response.status, await response.text()
        except asyncio.TimeoutError:  # noqa: UP041 named for what it is here
            status = 0
        except aiohttp.ClientError:
            status = -1
        self.statuses.append(status)
        return status, text

    async def verify(self) -> tuple[int, str]:
        """url_verification: the app must give the challenge back."""
        body = json.dumps(
            {"token": "verification", "challenge": "lab-challenge", "type": "url_verification"}
        )
        return await self.post(body, self.headers(body, "application/json"))

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()


_WHY = {0: "http_timeout", -1: "connection_failed"}


def _encoded(delivery: Delivery) -> tuple[str, str]:
    form = "application/x-www-form-urlencoded"
    if delivery.kind == "interactive":
        return urllib.parse.urlencode({"payload": json.dumps(delivery.payload)}), form
    if delivery.kind == "slash_commands":
        return urllib.parse.urlencode(delivery.payload), form
    return json.dumps(delivery.payload), "application/json"
