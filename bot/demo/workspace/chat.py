"""chat.*: messages posted, changed, deleted, linked to."""

from __future__ import annotations

from typing import Any

from bot.demo.workspace.limits import LIMITS
from bot.demo.workspace.method import Answer, Args, Method, checked_blocks, needed
from bot.demo.workspace.refused import Refused
from bot.demo.workspace.state import State


def _content(state: State, args: Args) -> dict[str, Any]:
    """Text and blocks of a message; Refused when there is none, or too much."""
    text = args.get("text")
    markdown = args.get("markdown_text")
    if markdown and (text or args.get("blocks")):
        raise Refused("markdown_text_conflict")
    if markdown:
        if len(str(markdown)) > LIMITS.markdown:
            raise Refused("msg_too_long")
        return {"text": str(markdown), "blocks": [{"type": "markdown", "text": str(markdown)}]}
    if not text and not args.get("blocks") and not args.get("attachments"):
        raise Refused("no_text")
    if len(str(text or "")) > LIMITS.text:
        raise Refused("msg_too_long")
    return {"text": str(text or ""), "blocks": checked_blocks(state, args.get("blocks"))}


def post_message(state: State, args: Args) -> Answer:
    """Post; with `thread_ts` as a reply."""
    channel = state.channel(args)
    content = _content(state, args)
    subtype = "thread_broadcast" if args.get("reply_broadcast") in (True, "1", "true") else None
    message = state.post(
        channel,
        **content,
        thread_ts=args.get("thread_ts"),
        subtype=subtype,
        metadata=args.get("metadata") or None,
        username=args.get("username"),
    )
    return {"channel": channel.id, "ts": message.ts, "message": message.wire()}


def post_ephemeral(state: State, args: Args) -> Answer:
    """Post what only `user` sees, and nobody finds later."""
    channel = state.channel(args)
    (user,) = needed(args, "user")
    if user not in channel.members:
        raise Refused("user_not_in_channel")
    message = state.post(
        channel, **_content(state, args), thread_ts=args.get("thread_ts"), only_for=user
    )
    return {"message_ts": message.ts}


def update(state: State, args: Args) -> Answer:
    """Change a message of ours; blocks that are not given stay, an empty list takes them away."""
    channel = state.channel(args)
    (ts,) = needed(args, "ts")
    message = state.ours(channel, ts, "cant_update_message")
    if message.stream is not None and message.stream.is_open:
        raise Refused("streaming_state_conflict")
    content = _content(state, args)
    before = message.wire()
    blocks = content["blocks"] if "blocks" in args or args.get("markdown_text") else None
    message.change(content["text"], blocks, state.ids.ts())
    if args.get("metadata"):
        message.metadata = args["metadata"]
    state.edited(message, before)
    return {"channel": channel.id, "ts": ts, "text": message.text, "message": message.wire()}


def delete(state: State, args: Args) -> Answer:
    """Take a message of ours away."""
    channel = state.channel(args)
    (ts,) = needed(args, "ts")
    state.ours(channel, ts, "cant_delete_message").deleted = True
    state.changed()
    return {"channel": channel.id, "ts": ts}


def permalink(state: State, args: Args) -> Answer:
    """The address of a message."""
    channel = state.channel(args)
    (ts,) = needed(args, "message_ts")
    message = state.messages.get(channel.id, ts)
    if message is None:
        raise Refused("message_not_found")
    link = f"https://lab.slack.com/archives/{channel.id}/p{ts.replace('.', '')}"
    if message.root != ts:
        link += f"?thread_ts={message.root}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


METHODS = {
    "chat.postMessage": Method(post_message, ("chat:write",), tier=0),
    "chat.postEphemeral": Method(post_ephemeral, ("chat:write",), tier=4),
    "chat.update": Method(update, ("chat:write",), tier=3),
    "chat.delete": Method(delete, ("chat:write",), tier=3),
    "chat.getPermalink": Method(permalink, (), tier=0),
}
