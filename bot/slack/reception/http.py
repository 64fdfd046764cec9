"""Signed HTTP instead of Socket Mode: Slack posts to /slack/events, and Bolt verifies who it is."""

from __future__ import annotations

import asyncio

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.signature import SignatureVerifier

from tools.errors import ToolsError

PATH = "/slack/events"
MOST_BYTES = 1 << 20  # of one request; Slack's largest payloads, modals, are far below
WITHIN_S = 10.0  # of one request, to its end; Slack itself waits 3 s for our answer
_PORTS = 65535


class HttpError(ToolsError):
    """The address cannot be listened on."""


def parted(address: str) -> tuple[str, int]:
    """Part HOST:PORT; raise HttpError with what is wrong with it."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or int(port) > _PORTS:
        raise HttpError(f"--http takes HOST:PORT, such as 127.0.0.1:3000, and not {address}.")
    return host.strip("[]"), int(port)


class Http:
    """A small server. TLS is for the proxy before it; without a right signature nothing passes."""

    def __init__(self, app: AsyncApp, host: str, port: int, signing_secret: str) -> None:
        self._app = app
        self._signed = SignatureVerifier(signing_secret)
        self._host, self._asked_port = host, port
        self.port = port  # the one it listens on, once it is open
        server = web.Application(client_max_size=MOST_BYTES)
        server.router.add_post(PATH, self._post)
        server.router.add_get("/healthz", self._alive)
        self._runner = web.AppRunner(server, access_log=None, shutdown_timeout=3.0)

    async def open(self) -> None:
        """Listen; raise HttpError if that cannot be."""
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._asked_port)
        try:
            await site.start()
        except OSError as why:
            await self._runner.cleanup()
            raise HttpError(
                f"{self._host}:{self._asked_port} cannot be listened on: {why.strerror or why}. "
                "Name another with --http."
            ) from None
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """Answer what is under way and stop listening."""
        await self._runner.cleanup()

    async def _post(self, request: web.Request) -> web.Response:
        """Verify before anything is parsed: Bolt reads the body first, and falls over odd ones."""
        try:
            async with asyncio.timeout(WITHIN_S):
                raw = await request.read()
            if not self._signed.is_valid_request(raw, dict(request.headers)):
                return web.Response(status=401, text="not signed")
            asked = await to_bolt_request(request)
        except (ValueError, LookupError):  # no UTF-8, no JSON, no number, an unknown charset
            return web.Response(status=400, text="not readable")
        except TimeoutError:
            return web.Response(status=408, text="too slow")
        return await to_aiohttp_response(await self._app.async_dispatch(asked))

    async def _alive(self, _request: web.Request) -> web.Response:
        return web.Response(text="ok")
