"""Messages: what is in a channel, and how each came to be what it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bot.demo.workspace.stream import Stream
from bot.demo.workspace.world import APP, BOT, BOT_USER, TEAM


@dataclass
class Message:
    """One message; `versions` holds what it said before (text, blocks), oldest first."""

    channel: str
    ts: str
    user: str
    text: str = ""
    blocks: list[dict[str, Any]] = field(default_factory=list)
    thread_ts: str | None = None
    subtype: str | None = None
    bot_id: str | None = None
    files: list[dict[str, Any]] = field(default_factory=list)
    only_for: str | None = None
    edited_ts: str | None = None
    deleted: bool = False
    stream: Stream | None = None
    metadata: dict[str, Any] | None = None
    username: str | None = None
    versions: list[tuple[str, list[dict[str, Any]]]] = field(default_factory=list)

    @property
    def root(self) -> str:
        """The time stamp of the thread it is in, or its own."""
        return self.thread_ts or self.ts

    @property
    def is_ours(self) -> bool:
        """Did the app post it?"""
        return self.bot_id == BOT

    def change(self, text: str | None, blocks: list[dict[str, Any]] | None, edited_ts: str) -> None:
        """Say something else from now on; a stream becomes an ordinary message."""
        self.versions.append((self.text, self.shown_blocks()))
        self.text = self.text if text is None else text
        self.blocks = self.blocks if blocks is None else blocks
        self.edited_ts = edited_ts
        if blocks is not None:
            self.stream = None

    def shown_blocks(self) -> list[dict[str, Any]]:
        """The blocks as a client draws them: those of the stream, then those given."""
        return [*(self.stream.blocks() if self.stream else ()), *self.blocks]

    def wire(self) -> dict[str, Any]:
        """As `conversations.history` and events show it."""
        text = self.text or (self.stream.text() if self.stream else "")
        seen: dict[str, Any] = {
            "type": "message",
            "user": self.user,
            "text": text,
            "ts": self.ts,
            "team": TEAM,
        }
        more = {
            "thread_ts": self.thread_ts,
            "subtype": self.subtype,
            "bot_id": self.bot_id,
            "username": self.username,
            "blocks": self.shown_blocks(),
            "files": self.files,
            "metadata": self.metadata,
            "edited": self.edited_ts and {"user": self.user, "ts": self.edited_ts},
            "streaming_state": self.stream and self.stream.state,
        }
        seen |= {key: value for key, value in more.items() if value}
        if self.is_ours:
            profile = {
                "id": BOT,
                "app_id": APP,
                "user_id": BOT_USER,
                "name": "perfsleuth",
                "team_id": TEAM,
            }
            seen |= {"app_id": APP, "bot_profile": profile}
        return seen


class Messages:
    """All messages of a workspace, by channel, in order of time."""

    def __init__(self) -> None:
        self.by_channel: dict[str, dict[str, Message]] = {}

    def add(self, message: Message) -> Message:
        """Keep a new one."""
        self.by_channel.setdefault(message.channel, {})[message.ts] = message
        return message

    def get(self, channel: str, ts: str) -> Message | None:
        """One that is there still; None when it is not, or was deleted."""
        message = self.by_channel.get(channel, {}).get(ts)
        return None if message is None or message.deleted else message

    def everything(self, channel: str) -> list[Message]:
        """All of a channel, threads included, oldest first; deleted and ephemeral ones are not."""
        return [
            m for m in self.by_channel.get(channel, {}).values() if not m.deleted and not m.only_for
        ]

    def history(self, channel: str) -> list[Message]:
        """What the channel itself shows: no replies."""
        return [
            m for m in self.everything(channel) if m.root == m.ts or m.subtype == "thread_broadcast"
        ]

    def thread(self, channel: str, ts: str) -> list[Message]:
        """The first message and its replies, oldest first."""
        return [m for m in self.everything(channel) if m.root == ts]

    def ephemeral(self, channel: str, user: str) -> list[Message]:
        """What only this user sees."""
        return [
            m
            for m in self.by_channel.get(channel, {}).values()
            if m.only_for == user and not m.deleted
        ]

    def wire(self, message: Message) -> dict[str, Any]:
        """With the counts that the first message of a thread has."""
        seen = message.wire()
        replies = [m for m in self.thread(message.channel, message.ts) if m.ts != message.ts]
        if replies:
            users = sorted({m.user for m in replies})
            seen |= {
                "thread_ts": message.ts,
                "reply_count": len(replies),
                "latest_reply": replies[-1].ts,
                "reply_users": users[:5],
                "reply_users_count": len(users),
            }
        return seen
