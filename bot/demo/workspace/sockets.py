"""Socket Mode: hello, envelopes, acks, polite disconnects and hard drops."""

from __future__ import annotations

import asyncio
import json
import socket as sockets_of_the_system
import struct
import uuid
from typing import Any

from aiohttp import WSMsgType, web

from bot.demo.workspace.method import Answer, Args
from bot.demo.workspace.refused import Refused
from bot.demo.workspace.state import State
from bot.demo.workspace.world import APP

GOODBYE_S = 0.2
MOST = 10  # sockets of one app: https://docs.slack.dev/apis/events-api/using-socket-mode


class SocketGone(Exception):
    """The socket closed before the ack came."""


class Socket:
    """One WebSocket of the app."""

    def __init__(self, number: int, ws: web.WebSocketResponse, request: web.Request) -> None:
        self.number, self.ws, self.request = number, ws, request
        self.leaving = False
        self.was_reset = False
        self.waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}

    @property
    def is_usable(self) -> bool:
        """May events still go over it?"""
        return not self.leaving and not self.ws.closed

    async def send(self, envelope: dict[str, Any]) -> asyncio.Future[dict[str, Any]]:
        """Send; what comes back is the ack to wait for."""
        ack: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.waiting[envelope["envelope_id"]] = ack
        try:
            await self.ws.send_str(json.dumps(envelope))
        except (ConnectionError, RuntimeError) as gone:
            raise SocketGone from gone
        return ack

    def hear(self, text: str) -> None:
        """An ack; whatever else the app says is ignored, as is an ack that comes too late."""
        try:
            said = json.loads(text)
        except ValueError:
            return
        ack = (
            self.waiting.pop(str(said.get("envelope_id")), None) if isinstance(said, dict) else None
        )
        if ack is not None and not ack.done():
            ack.set_result(dict(said.get("payload") or {}))

    def lost(self) -> None:
        """Nobody will ack what is in flight."""
        for ack in self.waiting.values():
            if not ack.done():
                ack.set_exception(SocketGone())
                ack.exception()
        self.waiting.clear()

    def reset(self) -> None:
        """Break the connection with an RST, no goodbye."""
        self.leaving = self.was_reset = True
        transport = self.request.transport
        if transport is None:
            return
        raw = transport.get_extra_info("socket")
        if raw is not None:
            raw.setsockopt(
                sockets_of_the_system.SOL_SOCKET,
                sockets_of_the_system.SO_LINGER,
                struct.pack("ii", 1, 0),
            )
        transport.abort()


class Sockets:
    """All sockets of the app; each event goes to one of them, by turns."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.open: list[Socket] = []
        self.made = 0
        self._tickets: set[str] = set()
        self._turn = 0

    def ticket(self, _state: State, _args: Args) -> Answer:
        """apps.connections.open: an address that is good for one socket."""
        if not self.state.settings.socket_mode:
            raise Refused("socket_mode_not_enabled")
        ticket = uuid.uuid4().hex
        self._tickets.add(ticket)
        return {
            "url": f"{self.state.url.replace('http', 'ws', 1)}/link/?ticket={ticket}&app_id={APP}"
        }

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """A socket, for as long as it lives."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets or self.state.faults.is_out:
            return web.Response(status=403 if not self.state.faults.is_out else 503)
        self._tickets.discard(ticket)
        ws = web.WebSocketResponse(timeout=GOODBYE_S)
        await ws.prepare(request)
        self.made += 1
        socket = Socket(self.made, ws, request)
        if len([s for s in self.open if s.is_usable]) >= MOST:
            await ws.send_json({"type": "disconnect", "reason": "too_many_websockets"})
            await ws.close()
            return ws
        self.open.append(socket)
        try:
            await ws.send_json(self._hello())
            async for message in ws:
                if message.type == WSMsgType.TEXT:
                    socket.hear(message.data)
        except ConnectionError:
            pass
        finally:
            self.open.remove(socket)
            socket.lost()
        return ws

    def _hello(self) -> dict[str, Any]:
        debug = {"host": "applink-lab-0", "build_number": 1, "approximate_connection_time": 18060}
        return {
            "type": "hello",
            "num_connections": len(self.open),
            "debug_info": debug,
            "connection_info": {"app_id": APP},
        }

    def pick(self) -> Socket | None:
        """The one whose turn it is, one that was asked to go only when there is no other; or None."""
        there = [s for s in self.open if not s.ws.closed and not s.was_reset]
        usable = [s for s in there if s.is_usable] or there
        if not usable:
            return None
        self._turn += 1
        return usable[self._turn % len(usable)]

    async def refresh(self, reason: str = "refresh_requested") -> None:
        """Ask every socket to go, politely; they are closed after a moment of grace.

        `warning` is the notice some seconds ahead, after which nothing is closed yet.
        """
        for socket in [s for s in self.open if s.is_usable]:
            await socket.ws.send_json(
                {"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-lab-0"}}
            )
            if reason != "warning":
                socket.leaving = True
                asyncio.get_running_loop().create_task(self._close_later(socket))

    async def _close_later(self, socket: Socket) -> None:
        await asyncio.sleep(self.state.settings.refresh_grace_s)
        await socket.ws.close()

    def drop(self) -> int:
        """Break all connections hard; how many there were."""
        dropped = list(self.open)
        for socket in dropped:
            socket.reset()
        return len(dropped)

    async def close(self) -> None:
        """Say goodbye to all; who does not answer at once is cut off."""
        leaving = list(self.open)
        for socket in leaving:
            socket.leaving = True
        goodbyes = [asyncio.ensure_future(socket.ws.close()) for socket in leaving]
        if goodbyes:
            await asyncio.wait(goodbyes, timeout=GOODBYE_S)
        for socket, goodbye in zip(leaving, goodbyes, strict=True):
            if not goodbye.done():
                socket.reset()
        await asyncio.gather(*goodbyes, return_exceptions=True)
