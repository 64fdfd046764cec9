"""Signed HTTP instead of Socket Mode: Slack posts to /slack/events, and Bolt verifies who it is."""

from __future__ import annotations

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.app.async_app import AsyncApp

from tools.errors import ToolsError

PATH = "/slack/events"
MOST_BYTES = 1 << 20  # of one request; Slack's largest payloads, modals, are far below
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

    def __init__(self, app: AsyncApp, host: str, port: int) -> None:
        self._app = app
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
        try:
            asked = await to_bolt_request(request)
        except (ValueError, LookupError):  # no UTF-8, no JSON, an unknown charset: not from Slack
            return web.Response(status=400, text="not readable")
        return await to_aiohttp_response(await self._app.async_dispatch(asked))

    async def _alive(self, _request: web.Request) -> web.Response:
        return web.Response(text="ok")
