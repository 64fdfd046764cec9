"""assistant.threads.* and agents.sessions.*: status, title and prompts of a thread."""

from __future__ import annotations

import json
import time
from typing import Any

from bot.demo.workspace.method import Answer, Args, Method, invalid, needed
from bot.demo.workspace.refused import Refused
from bot.demo.workspace.state import Session, State

_STATES = ("processing", "active", "suspended", "closed")
_TITLE = 200


def _session(state: State, args: Args, *, thread: str = "thread_ts") -> Session:
    channel = state.channel(args, key="channel_id")
    ts = str(args.get(thread) or "")
    if ts and state.messages.get(channel.id, ts) is None:
        raise Refused("thread_not_found")
    return state.session(channel.id, ts)


def set_status(state: State, args: Args) -> Answer:
    """Show "perfsleuth is …" below the thread; it goes with the next message, or after two minutes."""
    needed(args, "thread_ts")
    session = _session(state, args)
    messages = args.get("loading_messages") or []
    if not isinstance(messages, list) or len(messages) > 10:
        raise invalid("no more than 10 items allowed: loading_messages")
    session.status, session.status_at = str(args.get("status") or ""), time.monotonic()
    session.loading_messages = [str(m) for m in messages]
    state.changed()
    return {}


def set_title(state: State, args: Args) -> Answer:
    """Name the thread in the assistant's history."""
    _, title = needed(args, "thread_ts", "title")
    _session(state, args).title = title
    state.changed()
    return {}


def set_prompts(state: State, args: Args) -> Answer:
    """Offer up to four questions."""
    prompts: Any = args.get("prompts")
    prompts = json.loads(prompts) if isinstance(prompts, str) else prompts
    if not isinstance(prompts, list) or not 1 <= len(prompts) <= 4:
        raise invalid("1 to 4 items: prompts")
    if any(not isinstance(p, dict) or not p.get("title") or not p.get("message") for p in prompts):
        raise invalid("a prompt has title and message")
    _session(state, args).prompts = [
        {"title": str(p["title"]), "message": str(p["message"])} for p in prompts
    ]
    state.changed()
    return {}


def set_session(state: State, args: Args) -> Answer:
    """Say in which state an agent's session is."""
    (status,) = needed(args, "status")
    if status not in _STATES:
        raise invalid(f"must be one of {', '.join(_STATES)}: status")
    session = _session(state, args)
    session.state = status
    if args.get("title"):
        _name(session, str(args["title"]))
    state.changed()
    return {}


def rename(state: State, args: Args) -> Answer:
    """Give an agent's session another title."""
    (title,) = needed(args, "title")
    _name(_session(state, args), title)
    state.changed()
    return {}


def _name(session: Session, title: str) -> None:
    if len(title) > _TITLE:
        raise invalid(f"must be less than {_TITLE + 1} characters: title")
    session.title = title


METHODS = {
    "assistant.threads.setStatus": Method(set_status, ("assistant:write", "chat:write"), tier=4),
    "assistant.threads.setTitle": Method(set_title, ("assistant:write",), tier=3),
    "assistant.threads.setSuggestedPrompts": Method(set_prompts, ("assistant:write",), tier=3),
    "agents.sessions.setStatus": Method(set_session, ("assistant:write", "chat:write"), tier=3),
    "agents.sessions.rename": Method(rename, ("assistant:write", "chat:write"), tier=3),
}
