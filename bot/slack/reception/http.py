"""Signed HTTP instead of Socket Mode: Slack posts to /slack/events, and Bolt verifies who it is."""

from __future__ import annotations

import asyncio
from time import monotonic

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.signature import SignatureVerifier

from tools.errors import ToolsError

PATH = "/slack/events"
MOST_BYTES = 1 << 20  # of one request; Slack's largest payloads, modals, are far below
WITHIN_S = 10.0  # from a connection to its first signed request; Slack waits 3 s for our answer
_LOOK_S = 0.5
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
    """A small server. TLS is for the proxy before it; without a right signature nothing passes.

    Nor does anybody keep a connection without one: who sends its headers byte by byte is cut off.
    aiohttp 3.14 does not do that (its `_process_keepalive` looks away before the first request).
    """

    def __init__(self, app: AsyncApp, host: str, port: int, signing_secret: str) -> None:
        self._app = app
        self._signed = SignatureVerifier(signing_secret)
        self._host, self._asked_port = host, port
        self.port = port  # the one it listens on, once it is open
        server = web.Application(client_max_size=MOST_BYTES)
        server.router.add_post(PATH, self._post)
        server.router.add_get("/healthz", self._alive)
        self._runner = web.AppRunner(server, access_log=None, shutdown_timeout=3.0)
        self._known: set[web.RequestHandler] = set()  # whose request was signed
        self._watching: asyncio.Task[None] | None = None

    @property
    def stands(self) -> bool:
        """Say whether it listens; whether Slack calls is not known until it does."""
        return bool(self._runner.addresses)

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
        self._watching = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Answer what is under way and stop listening."""
        if self._watching:
            self._watching.cancel()
        await self._runner.cleanup()

    async def _watch(self) -> None:
        """Close connections that have brought no signed request in time."""
        since: dict[web.RequestHandler, float] = {}
        while True:
            await asyncio.sleep(_LOOK_S)
            now = monotonic()
            there = self._runner.server.connections if self._runner.server else []
            self._known.intersection_update(there)
            since = {one: since.get(one, now) for one in there if one not in self._known}
            for one, at in since.items():
                if now - at > WITHIN_S:
                    one.force_close()

    async def _post(self, request: web.Request) -> web.Response:
        """Verify before anything is parsed: Bolt reads the body first, and falls over odd ones."""
        try:
            async with asyncio.timeout(WITHIN_S):
                raw = await request.read()
            if not self._signed.is_valid_request(raw, dict(request.headers)):
                return _last(401, "not signed")
            self._known.add(request.protocol)
            asked = await to_bolt_request(request)
        except (ValueError, LookupError):  # no UTF-8, no JSON, no number, an unknown charset
            return _last(400, "not readable")
        except TimeoutError:
            return _last(408, "too slow")
        return await to_aiohttp_response(await self._app.async_dispatch(asked))

    async def _alive(self, _request: web.Request) -> web.Response:
        return _last(200, "ok")


def _last(status: int, text: str) -> web.Response:
    """Return an answer after which the connection is closed: a next request might never end."""
    answer = web.Response(status=status, text=text)
    answer.force_close()
    return answer
