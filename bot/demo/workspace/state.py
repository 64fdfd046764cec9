"""All that this workspace knows: its world, its messages, files, views and what happened."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.demo.workspace.faults import Faults
from bot.demo.workspace.ids import Ids
from bot.demo.workspace.messages import Message, Messages
from bot.demo.workspace.rates import Rates
from bot.demo.workspace.record import Record
from bot.demo.workspace.refused import Refused
from bot.demo.workspace.settings import Settings
from bot.demo.workspace.world import BOT, BOT_USER, Channel, World


@dataclass
class File:
    """An uploaded file; without `ready` only its place was asked for."""

    id: str
    name: str
    length: int
    content: bytes = b""
    ready: bool = False
    title: str = ""
    mimetype: str = "application/octet-stream"
    filetype: str = "binary"
    user: str = BOT_USER
    alt_text: str = ""
    snippet: str = ""


@dataclass
class View:
    """A modal, or somebody's Home."""

    id: str
    user: str
    view: dict[str, Any]
    hash: str = "0"
    open: bool = True
    root_id: str = ""


@dataclass
class Session:
    """What the app said of a thread: status and title of its assistant, state of the agent's session."""

    status: str = ""
    status_at: float = 0.0
    loading_messages: list[str] = field(default_factory=list)
    title: str = ""
    prompts: list[dict[str, str]] = field(default_factory=list)
    state: str = ""


class State:
    """One workspace; methods read and write it, within one event loop."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.ids = Ids()
        self.world = World()
        self.messages = Messages()
        self.record = Record()
        self.faults = Faults()
        self.rates = Rates(settings)
        self.files: dict[str, File] = {}
        self.views: dict[str, View] = {}
        self.homes: dict[str, dict[str, Any]] = {}
        self.sessions: dict[tuple[str, str], Session] = {}
        self.triggers: dict[str, tuple[float, str]] = {}  # trigger id -> when and for whom
        self.response_urls: dict[str, tuple[str, str | None, str, int]] = {}
        self.url = ""
        self.tell: Callable[[dict[str, Any]], None] = lambda _event: None
        self.changed: Callable[[], None] = lambda: None

    def session(self, channel: str, thread_ts: str) -> Session:
        """That of a thread, made when first asked for."""
        return self.sessions.setdefault((channel, thread_ts), Session())

    def channel(
        self, args: Mapping[str, Any], *, member: bool = True, key: str = "channel"
    ) -> Channel:
        """The channel of a call; Refused when it is unknown, archived, or (`member`) the bot is not in it."""
        wanted = str(args.get(key) or "")
        channel = self.world.channels.get(wanted)
        if channel is None and wanted in self.world.users:
            channel = self.world.direct(wanted)
        if channel is None and wanted.startswith("#"):
            channel = next((c for c in self.world.channels.values() if c.name == wanted[1:]), None)
        if channel is None or (channel.kind == "private" and BOT_USER not in channel.members):
            raise Refused("channel_not_found")
        if member and channel.archived:
            raise Refused("is_archived")
        if member and BOT_USER not in channel.members:
            raise Refused("not_in_channel")
        return channel

    def ours(self, channel: Channel, ts: str, cannot: str) -> Message:
        """A message that the app may change; Refused with message_not_found or `cannot`."""
        message = self.messages.get(channel.id, ts)
        if message is None or message.only_for:
            raise Refused("message_not_found")
        if not message.is_ours:
            raise Refused(cannot)
        return message

    def post(self, channel: Channel, **what: Any) -> Message:
        """Add a message of the app; everybody who listens is told."""
        thread_ts = what.pop("thread_ts", None) or None
        if thread_ts is not None and self.messages.get(channel.id, str(thread_ts)) is None:
            raise Refused("thread_not_found")
        message = Message(
            channel.id, self.ids.ts(), BOT_USER, thread_ts=thread_ts, bot_id=BOT, **what
        )
        self.messages.add(message)
        if not message.only_for:
            self.said(message)
        self.changed()
        return message

    def said(self, message: Message) -> None:
        """Tell the app of its own message, as Slack does where it is subscribed."""
        if self.settings.echo:
            self.tell(self.event_of(message))

    def event_of(self, message: Message) -> dict[str, Any]:
        """The `message` event of a message."""
        kinds = {"public": "channel", "private": "group", "im": "im"}
        channel = self.world.channels[message.channel]
        more = {"channel": channel.id, "channel_type": kinds[channel.kind], "event_ts": message.ts}
        return {**message.wire(), **more}

    def edited(self, message: Message, before: dict[str, Any]) -> None:
        """Tell of a change, with what it was."""
        self.changed()
        if self.settings.echo or not message.is_ours:
            ts = self.ids.ts()
            event = self.event_of(message)
            event = {
                **{k: event[k] for k in ("type", "channel", "channel_type")},
                "subtype": "message_changed",
                "hidden": True,
                "message": message.wire(),
                "previous_message": before,
                "ts": ts,
                "event_ts": ts,
            }
            self.tell(event)

    def trigger(self, user: str) -> str:
        """A trigger id, good once and for three seconds."""
        made = f"{self.ids.next('')}.{self.ids.next('')}.{self.ids.next('')}".lower()
        self.triggers[made] = (time.monotonic(), user)
        return made
