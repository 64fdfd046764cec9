"""chat.startStream, appendStream and stopStream: a message that is written while one reads."""

from __future__ import annotations

from typing import Any

from bot.demo.workspace.messages import Message
from bot.demo.workspace.method import Answer, Args, Method, checked_blocks, invalid, needed
from bot.demo.workspace.refused import Refused
from bot.demo.workspace.state import State
from bot.demo.workspace.stream import Stream
from bot.demo.workspace.world import TEAM


def _chunks(args: Args) -> list[dict[str, Any]]:
    markdown, chunks = args.get("markdown_text"), args.get("chunks")
    if markdown and chunks:
        raise invalid("markdown_text or chunks, not both")
    if markdown:
        return [{"type": "markdown_text", "text": markdown}]
    return chunks or []


def start(state: State, args: Args) -> Answer:
    """Begin a message; in channels it must be said for whom (tier 2)."""
    channel = state.channel(args)
    if not args.get("thread_ts"):
        raise invalid("missing required field: thread_ts")
    if channel.kind != "im":
        for name in ("recipient_team_id", "recipient_user_id"):
            if not args.get(name):
                raise Refused(f"missing_{name}")
        if args["recipient_team_id"] != TEAM:
            raise Refused("team_not_found")
        if args["recipient_user_id"] not in state.world.users:
            raise Refused("user_not_found")
    mode = args.get("task_display_mode") or "timeline"
    if mode not in ("timeline", "plan", "dense"):
        raise invalid("task_display_mode")
    stream = Stream(str(mode), state.settings.stream_s)
    stream.append(_chunks(args))
    message = state.post(channel, thread_ts=args["thread_ts"], stream=stream)
    return {"channel": channel.id, "ts": message.ts}


def _open(state: State, args: Args) -> tuple[Message, Stream]:
    channel = state.channel(args)
    (ts,) = needed(args, "ts")
    message = state.messages.get(channel.id, ts)
    if message is None:
        raise Refused("message_not_found")
    if not message.is_ours:
        raise Refused("message_not_owned_by_app")
    if message.stream is None or not message.stream.is_open:
        raise Refused("message_not_in_streaming_state")
    return message, message.stream


def append(state: State, args: Args) -> Answer:
    """Write on (tier 4)."""
    message, stream = _open(state, args)
    chunks = _chunks(args)
    if not chunks:
        raise Refused("no_text")
    stream.append(chunks)
    state.changed()
    return {"channel": message.channel, "ts": message.ts}


def stop(state: State, args: Args) -> Answer:
    """End it, with a last word and blocks below (tier 2)."""
    message, stream = _open(state, args)
    blocks = checked_blocks(state, args.get("blocks"))
    before = message.wire()
    stream.append(_chunks(args))
    stream.stopped = True
    message.blocks = blocks
    if args.get("session_status"):
        state.session(message.channel, message.root).state = str(args["session_status"])
    state.edited(message, before)
    return {"channel": message.channel, "ts": message.ts, "message": message.wire()}


METHODS = {
    "chat.startStream": Method(start, ("chat:write",), tier=2),
    "chat.appendStream": Method(append, ("chat:write",), tier=4),
    "chat.stopStream": Method(stop, ("chat:write",), tier=2),
}
