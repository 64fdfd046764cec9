"""The workspace itself: a Slack on loopback that real Bolt and slack_sdk talk to."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Any

from aiohttp import web

from bot.demo.workspace.answering import after_ack, respond
from bot.demo.workspace.api import Api
from bot.demo.workspace.interactions import Interactions
from bot.demo.workspace.messages import Message
from bot.demo.workspace.method import Method
from bot.demo.workspace.post import Post
from bot.demo.workspace.record import Call, Delivery
from bot.demo.workspace.request_url import RequestUrl
from bot.demo.workspace.settings import Settings
from bot.demo.workspace.sockets import Sockets
from bot.demo.workspace.state import State, View
from bot.demo.workspace.transfers import download, upload

MOST_BYTES = 1 << 30  # of an upload, as Slack has it


class Workspace(Interactions):
    """Start it in an event loop: `async with Workspace() as slack`, then `slack.environment()`.

    Everything that people do (`say`, `press`, `command` ...) is a plain call within that loop.
    """

    def __init__(self, **settings: Any) -> None:
        self.settings = Settings(**settings)
        self.state = State(self.settings)
        self.sockets = Sockets(self.state)
        self.post = Post(self.state, self.sockets)
        self.api = Api(self.state)
        self.api.methods["apps.connections.open"] = Method(self.sockets.ticket, tier=1, token="app")  # noqa: S106
        self.settings.per_minute.setdefault("apps.connections.open", 60)
        self.state.tell = self.tell_message_event
        self.state.changed = self._changed
        self._runner: web.AppRunner | None = None
        self._listeners: list[Callable[[], None]] = []

    @property
    def faults(self) -> Any:
        """What goes wrong on demand: `slack.faults.every(10, "ratelimited")`."""
        return self.state.faults

    @property
    def record(self) -> Any:
        """All calls and deliveries."""
        return self.state.record

    @property
    def world(self) -> Any:
        """People, channels and groups; add to them."""
        return self.state.world

    @property
    def url(self) -> str:
        """Where it listens: http://127.0.0.1:PORT."""
        return self.state.url

    @property
    def api_url(self) -> str:
        """The base address for slack_sdk; the slash at its end matters."""
        return f"{self.state.url}/api/"

    def environment(self) -> dict[str, str]:
        """What the bot's process needs to find it."""
        return {
            "SLACK_BOT_TOKEN": self.settings.bot_token,
            "SLACK_APP_TOKEN": self.settings.app_token,
            "SLACK_SIGNING_SECRET": self.settings.signing_secret,
            "PERFSLEUTH_SLACK_API_URL": self.api_url,
        }

    async def start(self, port: int = 0) -> Workspace:
        """Listen on loopback; port 0: any that is free."""
        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_route("*", "/api/{method}", self.api.handle)
        app.router.add_get("/link/", self.sockets.handle)
        app.router.add_post("/upload/v1/{file}", partial(upload, self.state))
        app.router.add_get("/files-pri/{rest:.+}", partial(download, self.state))
        app.router.add_post("/actions/{team}/{key}", partial(respond, self.state))
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        self.state.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def stop(self) -> None:
        """Close everything."""
        await self.post.close()
        await self.sockets.close()
        if self._runner is not None:
            await self._runner.cleanup()

    async def __aenter__(self) -> Workspace:
        return await self.start()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    def events_to(self, url: str) -> RequestUrl:
        """HTTP mode from now on: everything is posted there, signed."""
        self.post.request_url = RequestUrl(url, self.settings)
        return self.post.request_url

    def send_event(self, event: dict[str, Any], event_id: str | None = None) -> Delivery:
        """Any event; with the id of an earlier one it is a duplicate."""
        return self.post.event(event, event_id)

    def again(self, delivery: Delivery) -> Delivery:
        """The same event, interaction or command once more, with the same id."""
        return self.post.send(delivery.kind, delivery.payload, delivery.key)

    def command(self, text: str, channel: str, user: str) -> Delivery:
        """As Interactions.command, and the ack's text is shown."""
        delivery = super().command(text, channel, user)
        after_ack(self.state, delivery)
        return delivery

    def submit(self, view: View, values: dict[str, str], user: str | None = None) -> Delivery:
        """As Interactions.submit, and the modal does what the ack says."""
        delivery = super().submit(view, values, user)
        after_ack(self.state, delivery)
        return delivery

    def drop_sockets(self) -> int:
        """Break the app's sockets hard (RST); how many there were."""
        return self.sockets.drop()

    async def refresh_sockets(self, reason: str = "refresh_requested") -> None:
        """Ask the app politely to connect anew; the old sockets close soon after."""
        await self.sockets.refresh(reason)

    def without(self, *methods: str, error: str = "unknown_method") -> None:
        """These methods do not exist in this workspace."""
        self.settings.without |= dict.fromkeys(methods, error)

    def messages(self, channel: str) -> list[Message]:
        """All of a channel with its threads, oldest first."""
        return self.state.messages.everything(self.state.world.channel(channel).id)

    def thread(self, channel: str, ts: str) -> list[Message]:
        """The first message and its replies, oldest first."""
        return self.state.messages.thread(self.state.world.channel(channel).id, ts)

    def replies(self, channel: str, ts: str) -> list[Message]:
        """What the app said in a thread."""
        return [m for m in self.thread(channel, ts) if m.is_ours and m.ts != ts]

    def ephemeral(self, channel: str, user: str) -> list[Message]:
        """What only this user sees there."""
        world = self.state.world
        return self.state.messages.ephemeral(world.channel(channel).id, world.user(user).id)

    def calls(self, method: str | None = None) -> list[Call]:
        """The calls of a method, or all."""
        return list(self.state.record.calls) if method is None else self.state.record.of(method)

    def open_views(self, user: str) -> list[View]:
        """The modals that somebody has before them."""
        who = self.state.world.user(user).id
        return [v for v in self.state.views.values() if v.user == who and v.open]

    def content(self, file_id: str) -> bytes:
        """What is in a file."""
        return self.state.files[file_id].content

    def listen(self, listener: Callable[[], None]) -> None:
        """Have `listener` called, in the loop, after every change of what people see."""
        self._listeners.append(listener)

    def _changed(self) -> None:
        for listener in self._listeners:
            listener()

    async def until(self, so: Callable[[], Any], within_s: float = 60.0) -> Any:
        """Wait for `so()` to be true and give what it gave; TimeoutError when it is not in time."""
        ends_at = time.monotonic() + within_s
        while not (found := so()):
            if time.monotonic() > ends_at:
                raise TimeoutError(f"not within {within_s} s")
            await asyncio.sleep(0.01)
        return found

    async def connected(self, within_s: float = 60.0) -> None:
        """Wait for the app's socket."""
        await self.until(lambda: self.sockets.pick() is not None, within_s)
