"""Telling the app: each event once at least, up to three times more when no ack comes in three seconds."""

from __future__ import annotations

import asyncio
import time
import uuid
from typing import Any

from bot.demo.workspace.record import Delivery, Try
from bot.demo.workspace.request_url import RequestUrl
from bot.demo.workspace.sockets import SocketGone, Sockets
from bot.demo.workspace.state import State
from bot.demo.workspace.world import APP, BOT_USER, TEAM


class Post:
    """Sends over sockets, or to the request URL where one is set."""

    def __init__(self, state: State, sockets: Sockets) -> None:
        self.state, self.sockets = state, sockets
        self.request_url: RequestUrl | None = None
        self._running: set[asyncio.Task[None]] = set()

    def event(self, event: dict[str, Any], event_id: str | None = None) -> Delivery:
        """Tell of an event; with a known `event_id` it is a duplicate."""
        key = event_id or self.state.ids.next("Ev")
        payload = {
            "token": "verification",
            "team_id": TEAM,
            "api_app_id": APP,
            "event": event,
            "type": "event_callback",
            "event_id": key,
            "event_time": int(time.time()),
            "authorizations": [
                {
                    "team_id": TEAM,
                    "user_id": BOT_USER,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": False,
        }
        return self.send("events_api", payload, key)

    def send(self, kind: str, payload: dict[str, Any], key: str) -> Delivery:
        """Tell of anything; it goes on in the background."""
        delivery = Delivery(kind, payload, key)
        self.state.record.deliveries.append(delivery)
        task = asyncio.get_running_loop().create_task(self._carry(delivery))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return delivery

    async def _carry(self, delivery: Delivery) -> None:
        waits_s = self.state.settings.retry_after_s if delivery.kind == "events_api" else ()
        reason = ""
        for attempt, wait_s in enumerate((0.0, *waits_s)):
            await asyncio.sleep(wait_s)
            tried = Try(attempt, 0)
            delivery.tries.append(tried)
            answer = await self._try(delivery, tried, reason)
            if answer is not None:
                tried.acked_after_ms = (time.monotonic() - tried.at) * 1000
                delivery.answer, delivery.acked = answer, True
                break
            reason = tried.failed
        delivery.done = True
        self.state.changed()

    async def _try(self, delivery: Delivery, tried: Try, reason: str) -> dict[str, Any] | None:
        if self.request_url is not None:
            return await self.request_url.send(delivery, tried, reason)
        socket = self.sockets.pick()
        if socket is None or self.state.faults.is_out:
            tried.failed = "no_socket"
            return None
        tried.socket = socket.number
        envelope: dict[str, Any] = {
            "envelope_id": str(uuid.uuid4()),
            "type": delivery.kind,
            "payload": delivery.payload,
            "accepts_response_payload": delivery.kind != "events_api",
        }
        if delivery.kind == "events_api":
            again = "timeout" if tried.attempt else ""
            envelope |= {"retry_attempt": tried.attempt, "retry_reason": again}
        try:
            ack = await socket.send(envelope)
            if self.state.faults.cuts_socket():
                socket.reset()
            # not wait_for: in Python 3.11 it loses a cancellation when the ack has just failed
            async with asyncio.timeout(self.state.settings.ack_s):
                return await ack
        except TimeoutError:
            tried.failed = "timeout"
        except SocketGone:
            tried.failed = "socket_gone"
        return None

    async def close(self) -> None:
        """Give up what is on its way."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        if self.request_url is not None:
            await self.request_url.close()
