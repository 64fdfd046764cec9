"""What the page is shown of the workspace: each thing by its name, so that only what changed is sent."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from bot.demo.workspace.messages import Message
from bot.demo.workspace.state import State
from bot.demo.workspace.world import BOT_USER, Channel

Event = dict[str, Any]

QUESTION = "don't leave perf on the table on CT129. it does 55 tok/s, it was 70. cuda graphs? nccl?"
FIRST = (QUESTION, "is anything wrong with CT130?", "/perf hosts", "/perf help")
AFTER = (
    "why not NCCL?", "what if we had NVLink?", "compare with CT130", "set --chunked-prefill-size 8192 and measure",
)  # fmt: skip
TOPIC = "where one asks why a model server is slow"
STATUS_S = 120.0  # a status vanishes after two minutes without a word: Slack's documentation
_TEXT_HEAD = 512  # bytes by which a text is told from other files


class View:
    """The workspace as one person sees it."""

    def __init__(self, state: State, me: str) -> None:
        self._state = state
        self._me = me
        self._bot_state = "starting"

    def bot_is(self, state: str) -> None:
        """Say how the bot is: starting, up, or gone."""
        self._bot_state = state
        self._state.changed()

    def things(self) -> dict[str, Event]:
        """Return all that is to be seen, by a name that stays the same while it changes."""
        channels = self._channels()
        things = {"world": self._world(channels), "bot": {"type": "bot", "state": self._bot_state}}
        for channel in channels:
            things[f"suggestions/{channel.id}"] = self._suggestions(channel)
            for message in self._messages(channel):
                things[f"message/{channel.id}/{message.ts}"] = {
                    "type": "message",
                    "message": self._message(message),
                }
        things |= dict(self._sessions())
        things["home"] = {"type": "home", "view": self._state.homes.get(self._me)}
        views = [one for one in self._state.views.values() if one.open and one.user == self._me]
        things["views"] = {
            "type": "views",
            "views": [one.view | {"id": one.id, "hash": one.hash} for one in views],
        }
        return things

    def _channels(self) -> list[Channel]:
        direct = self._state.world.direct(self._me)
        joined = [
            one
            for one in self._state.world.channels.values()
            if one.kind != "im" and self._sees(one)
        ]
        return [*joined, direct]

    def _sees(self, channel: Channel) -> bool:
        return self._me in channel.members and BOT_USER in channel.members

    def _world(self, channels: list[Channel]) -> Event:
        users = {
            one.id: {"name": one.name, "bot": one.is_bot}
            for one in self._state.world.users.values()
        }
        shown = [
            {
                "id": one.id,
                "kind": "im" if one.kind == "im" else "channel",
                "name": users[BOT_USER]["name"] if one.kind == "im" else one.name,
                "user": BOT_USER if one.kind == "im" else "",
                "topic": "" if one.kind == "im" else TOPIC,
            }
            for one in channels
        ]
        return {
            "type": "world",
            "world": {"me": self._me, "bot": BOT_USER, "users": users, "channels": shown},
        }

    def _suggestions(self, channel: Channel) -> Event:
        return {"type": "suggestions", "channel": channel.id, "first": FIRST, "after": AFTER}

    def _messages(self, channel: Channel) -> list[Message]:
        messages = self._state.messages
        return [*messages.everything(channel.id), *messages.ephemeral(channel.id, self._me)]

    def _message(self, message: Message) -> Event:
        told = message.wire()
        kept = ("ts", "thread_ts", "user", "username", "text", "blocks", "edited")
        shown = {name: told[name] for name in kept if name in told}
        shown |= {"channel": message.channel, "ephemeral": bool(message.only_for)}
        shown["streaming"] = bool(message.stream and message.stream.is_open)
        if message.stream:
            shown["blocks"] = [_as_streamed(block) for block in shown.get("blocks", ())]
        shown["files"] = [self._file(file) for file in message.files]
        return shown

    def _file(self, file: Event) -> Event:
        content = self.content(str(file.get("id", "")))
        kept = {
            name: file[name]
            for name in ("id", "name", "title", "mimetype", "size", "alt_txt")
            if name in file
        }
        text = content is not None and b"\0" not in content[:_TEXT_HEAD]
        return kept | {"href": f"file/{file.get('id', '')}", "text": text}

    def content(self, file: str) -> bytes | None:
        """Return what a file holds; None if there is none of that id."""
        known = self._state.files.get(file)
        return known.content if known and known.ready else None

    def image_type(self, file: str) -> str | None:
        """Return the type of a file that is an image a browser may show; None for all else."""
        known = self._state.files.get(file)
        shown = ("image/png", "image/jpeg", "image/gif", "image/webp")
        return known.mimetype if known and known.mimetype in shown else None

    def _sessions(self) -> Iterator[tuple[str, Event]]:
        for (channel, thread_ts), one in self._state.sessions.items():
            fresh = time.monotonic() - one.status_at < STATUS_S
            where = {"channel": channel, "thread_ts": thread_ts}
            yield (
                f"status/{channel}/{thread_ts}",
                {"type": "status", **where, "status": one.status if fresh else ""},
            )
            session = {
                "type": "session",
                **where,
                "status": one.state,
                "title": one.title,
                "prompts": one.prompts,
            }
            yield f"session/{channel}/{thread_ts}", session


def _as_streamed(block: Event) -> Event:
    """Return a block whose tasks hold markdown, as a stream brings it, and no rich text."""
    if block["type"] == "plan":
        return block | {"tasks": [_as_streamed(one) for one in block["tasks"]]}
    if block["type"] != "task_card":
        return block
    words = {name: _words(block[name]) for name in ("details", "output") if name in block}
    return block | words | {"streamed": True}


def _words(rich: Event) -> str:
    return "".join(one["text"] for section in rich["elements"] for one in section["elements"])


class Sent:
    """What one page has been sent; `news` are the events that bring it up to date."""

    def __init__(self) -> None:
        self._sent: dict[str, str] = {}

    def news(self, things: dict[str, Event]) -> list[Event]:
        """Return what changed since the last call, and remember it."""
        now = {name: json.dumps(event, sort_keys=True) for name, event in things.items()}
        gone = [name for name in self._sent if name not in now and name.startswith("message/")]
        fresh = [things[name] for name, told in now.items() if self._sent.get(name) != told]
        self._sent = now
        return [*fresh, *map(_gone, gone)]


def _gone(name: str) -> Event:
    _, channel, ts = name.split("/")
    return {"type": "gone", "channel": channel, "ts": ts}
