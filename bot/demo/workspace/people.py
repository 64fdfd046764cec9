"""What people do: write, edit, delete, upload, open Home and the assistant, stop a session."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from bot.demo.workspace import files as uploads
from bot.demo.workspace.messages import Message
from bot.demo.workspace.post import Post
from bot.demo.workspace.record import Delivery
from bot.demo.workspace.state import State
from bot.demo.workspace.world import APP, BOT_USER, Channel

_KINDS = {"public": "message.channels", "private": "message.groups", "im": "message.im"}


class People:
    """The people's side; channels and people by id or by name."""

    state: State
    post: Post

    def typed(self, text: str) -> str:
        """What a client sends for what somebody typed: entities, `@name`, `#channel` and addresses."""
        sent = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        sent = re.sub(r"https?://[^\s<>|]+", lambda m: f"<{m[0]}>", sent)
        for user in self.state.world.users.values():
            sent = re.sub(rf"(?<!\w)@{re.escape(user.name)}\b", f"<@{user.id}>", sent)
        for channel in self.state.world.channels.values():
            if channel.name:
                sent = re.sub(
                    rf"(?<!\w)#{re.escape(channel.name)}\b", f"<#{channel.id}|{channel.name}>", sent
                )
        return sent

    def say(
        self,
        channel: str,
        user: str,
        text: str,
        thread_ts: str | None = None,
        files: Sequence[tuple[str, bytes]] = (),
        **more: Any,
    ) -> Message:
        """Somebody writes: `text` as it goes over the wire (see `typed`), `files` as (name, content).

        The app hears app_mention and message, where it is subscribed, with different event ids.
        """
        where, who = self.state.world.channel(channel), self.state.world.user(user)
        kept = [uploads.keep(self.state, name, content, who.id) for name, content in files]
        message = Message(
            where.id,
            self.state.ids.ts(),
            who.id,
            text,
            thread_ts=thread_ts,
            files=[uploads.wire(self.state, f) for f in kept],
            subtype=more.pop("subtype", "file_share" if files else None),
            **more,
        )
        self.state.messages.add(message)
        self.tell_of(message)
        self.state.changed()
        return message

    def mention(self, text: str, channel: str = "gpu", user: str = "sam", **more: Any) -> Message:
        """Somebody writes to the bot in a channel."""
        return self.say(channel, user, f"<@{BOT_USER}> {text}", **more)

    def say_silently(
        self, channel: str, user: str, text: str, thread_ts: str | None = None
    ) -> Message:
        """Somebody writes, and the events are lost: only the history has it."""
        where, who = self.state.world.channel(channel), self.state.world.user(user)
        self.state.changed()
        return self.state.messages.add(
            Message(where.id, self.state.ids.ts(), who.id, text, thread_ts=thread_ts)
        )

    def say_as_bot(self, channel: str, text: str, thread_ts: str | None = None) -> Message:
        """Another app's bot writes."""
        who = self.state.world.users.get("U0OTHERBOT") or self.state.world.add_user(
            "otherbot", is_bot=True
        )
        return self.say(
            channel, who.id, text, thread_ts, bot_id="B0OTHERBOT", subtype="bot_message"
        )

    def tell_of(self, message: Message) -> list[Delivery]:
        """The events of a message: app_mention (not in direct messages) and message."""
        event = self.state.event_of(message)
        told: list[Delivery] = []
        channel = self.state.world.channels[message.channel]
        mentioned = f"<@{BOT_USER}>" in message.text or f"<@{BOT_USER}|" in message.text
        if (
            mentioned
            and channel.kind != "im"
            and BOT_USER in channel.members
            and not message.bot_id
        ):
            told += self._tell("app_mention", {**event, "type": "app_mention"})
        return told + self._tell(_KINDS[channel.kind], event, channel)

    def _tell(
        self, subscription: str, event: dict[str, Any], channel: Channel | None = None
    ) -> list[Delivery]:
        if subscription not in self.state.settings.subscriptions:
            return []
        if channel is not None and BOT_USER not in channel.members:
            return []
        return [self.post.event(event)]

    def tell_message_event(self, event: dict[str, Any]) -> None:
        """A message event that the app may hear: its own messages, edits, deletions."""
        channel = self.state.world.channels[event["channel"]]
        self._tell(_KINDS[channel.kind], event, channel)

    def edit(self, channel: str, ts: str, text: str) -> None:
        """Somebody changes what they wrote."""
        message = self.message(channel, ts)
        before = message.wire()
        message.change(text, None, self.state.ids.ts())
        self.state.edited(message, before)

    def remove(self, channel: str, ts: str) -> None:
        """Somebody deletes what they wrote."""
        message = self.message(channel, ts)
        message.deleted = True
        now = self.state.ids.ts()
        event = self.state.event_of(message)
        event = {k: event[k] for k in ("type", "channel", "channel_type")}
        before = message.wire()
        self.tell_message_event(
            {
                **event,
                "subtype": "message_deleted",
                "deleted_ts": ts,
                "previous_message": before,
                "ts": now,
                "event_ts": now,
            }
        )
        self.state.changed()

    def message(self, channel: str, ts: str) -> Message:
        """One message, ephemeral ones too; LookupError when there is none."""
        message = self.state.messages.get(self.state.world.channel(channel).id, ts)
        if message is None:
            raise LookupError(f"no message {ts} in {channel}")
        return message

    def open_home(self, user: str) -> list[Delivery]:
        """Somebody looks at the app's Home."""
        who = self.state.world.user(user)
        direct = self.state.world.direct(who.id)
        event = {"type": "app_home_opened", "user": who.id, "channel": direct.id, "tab": "home"}
        return self._tell("app_home_opened", {**event, "event_ts": self.state.ids.ts()})

    def open_assistant(self, user: str, context_channel: str = "") -> Message:
        """Somebody opens the assistant: a thread of the app in the direct message, and the event of it."""
        who = self.state.world.user(user)
        direct = self.state.world.direct(who.id)
        echo, self.state.settings.echo = self.state.settings.echo, False
        first = self.state.post(direct, text="New assistant thread", subtype="assistant_app_thread")
        self.state.settings.echo = echo
        started = "assistant_thread_started"
        self._tell(started, self._assistant_event(started, first, who.id, context_channel))
        return first

    def change_context(self, thread: Message, user: str, context_channel: str) -> list[Delivery]:
        """Somebody looks at another channel with the assistant open."""
        kind = "assistant_thread_context_changed"
        return self._tell(
            kind,
            self._assistant_event(kind, thread, self.state.world.user(user).id, context_channel),
        )

    def _assistant_event(
        self, kind: str, thread: Message, user: str, context: str
    ) -> dict[str, Any]:
        seen = (
            {"channel_id": self.state.world.channel(context).id, "team_id": "T0LAB00001"}
            if context
            else {}
        )
        about = {
            "user_id": user,
            "context": seen,
            "channel_id": thread.channel,
            "thread_ts": thread.ts,
        }
        return {"type": kind, "assistant_thread": about, "event_ts": self.state.ids.ts()}

    def stop_session(self, channel: str, thread_ts: str, user: str) -> list[Delivery]:
        """Somebody presses Slack's own Stop."""
        where = self.state.world.channel(channel)
        thread = self.state.messages.thread(where.id, thread_ts)
        open_now = [m.ts for m in thread if m.stream is not None and m.stream.is_open]
        event = {
            "type": "agent_session_stopped",
            "app_id": APP,
            "channel": where.id,
            "thread_ts": thread_ts,
            "user": self.state.world.user(user).id,
            "streaming_message_ts": open_now,
            "event_ts": self.state.ids.ts(),
        }
        return self._tell("agent_session_stopped", event)
