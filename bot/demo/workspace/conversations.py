"""conversations.*, users.*, usergroups.*: who is there and what was said."""

from __future__ import annotations

import base64
from typing import Any

from bot.demo.workspace.messages import Message
from bot.demo.workspace.method import Answer, Args, Method, needed
from bot.demo.workspace.refused import Refused
from bot.demo.workspace.state import State
from bot.demo.workspace.world import APP, BOT, BOT_USER, TEAM

_HISTORY = {"public": "channels:history", "private": "groups:history", "im": "im:history"}


def may_read(state: State, args: Args) -> str:
    """The id of a channel whose history the app may read; Refused otherwise."""
    channel = state.channel(args, member=False)
    scope = _HISTORY[channel.kind]
    if scope not in state.settings.scopes:
        raise Refused(
            "missing_scope", needed=scope, provided=",".join(sorted(state.settings.scopes))
        )
    if BOT_USER not in channel.members:
        raise Refused("not_in_channel")
    return channel.id


def _page(state: State, found: list[Message], args: Args, *, newest_first: bool) -> Answer:
    oldest, latest = str(args.get("oldest") or "0"), str(args.get("latest") or "9999999999.0")
    inclusive = args.get("inclusive") in (True, "1", "true", "True")
    try:
        low, high = float(oldest), float(latest)
    except ValueError:
        raise Refused("invalid_ts_oldest") from None
    inside = [
        m
        for m in found
        if _between(m.ts, low, high, oldest, latest) or (inclusive and m.ts in (oldest, latest))
    ]
    inside.sort(key=lambda m: float(m.ts), reverse=newest_first)
    start = _cursor(args.get("cursor"))
    size = min(int(args.get("limit") or state.settings.history_page), 1000)
    more = len(inside) > start + size
    answer: Answer = {
        "messages": [state.messages.wire(m) for m in inside[start : start + size]],
        "has_more": more,
    }
    if more:
        answer["response_metadata"] = {"next_cursor": _cursor_to(start + size)}
    return answer


def _between(ts: str, low: float, high: float, oldest: str, latest: str) -> bool:
    return ts not in (oldest, latest) and low < float(ts) < high


def _cursor_to(start: int) -> str:
    return base64.b64encode(f"next:{start}".encode()).decode()


def _cursor(cursor: Any) -> int:
    if not cursor:
        return 0
    try:
        return int(base64.b64decode(str(cursor)).decode().removeprefix("next:"))
    except ValueError:
        raise Refused("invalid_cursor") from None


def history(state: State, args: Args) -> Answer:
    """What a channel shows, newest first; replies are in their threads."""
    return _page(state, state.messages.history(may_read(state, args)), args, newest_first=True)


def replies(state: State, args: Args) -> Answer:
    """A thread, oldest first; each page begins with the first message, as Slack has it."""
    channel = may_read(state, args)
    (ts,) = needed(args, "ts")
    first = state.messages.get(channel, ts)
    if first is None:
        raise Refused("thread_not_found")
    thread = [m for m in state.messages.thread(channel, first.root) if m.ts != first.root]
    answer = _page(state, thread, args, newest_first=False)
    root = state.messages.get(channel, first.root)
    if root is not None:
        answer["messages"] = [state.messages.wire(root), *answer["messages"]]
    return answer


def open_direct(state: State, args: Args) -> Answer:
    """Open the direct message with a user."""
    (user,) = needed(args, "users")
    if user not in state.world.users:
        raise Refused("user_not_found")
    return {"channel": {"id": state.world.direct(user).id}}


def info(state: State, args: Args) -> Answer:
    """A channel."""
    return {"channel": state.channel(args, member=False).wire()}


def user_info(state: State, args: Args) -> Answer:
    """A user; guests are `is_restricted`, people of another team `is_stranger`."""
    (user,) = needed(args, "user")
    if user not in state.world.users:
        raise Refused("user_not_found")
    return {"user": state.world.users[user].wire()}


def user_list(state: State, args: Args) -> Answer:
    """A page of the members, strangers of other teams left out; the last has an empty cursor."""
    ours = [user.wire() for user in state.world.users.values() if user.team == TEAM]
    start = _cursor(args.get("cursor"))
    end = start + min(int(args.get("limit") or state.settings.history_page), 1000)
    following = _cursor_to(end) if end < len(ours) else ""
    return {"members": ours[start:end], "response_metadata": {"next_cursor": following}}


def groups(state: State, _args: Args) -> Answer:
    """All user groups."""
    return {
        "usergroups": [
            {
                "id": g.id,
                "team_id": TEAM,
                "handle": g.handle,
                "name": g.handle,
                "user_count": len(g.users),
            }
            for g in state.world.groups.values()
        ]
    }


def group_users(state: State, args: Args) -> Answer:
    """Who is in a user group."""
    (group,) = needed(args, "usergroup")
    if group not in state.world.groups:
        raise Refused("no_such_subteam")
    return {"users": list(state.world.groups[group].users)}


def auth_test(_state: State, _args: Args) -> Answer:
    """Who the token is."""
    return {
        "url": "https://lab.slack.com/",
        "team": "Lab",
        "user": "perfsleuth",
        "team_id": TEAM,
        "user_id": BOT_USER,
        "bot_id": BOT,
        "app_id": APP,
        "is_enterprise_install": False,
    }


def bot_info(_state: State, _args: Args) -> Answer:
    """The app's own bot."""
    return {
        "bot": {
            "id": BOT,
            "app_id": APP,
            "user_id": BOT_USER,
            "name": "perfsleuth",
            "deleted": False,
        }
    }


METHODS = {
    "conversations.history": Method(history, tier=3),
    "conversations.replies": Method(replies, tier=3),
    "conversations.open": Method(
        open_direct, ("im:write", "channels:manage", "groups:write"), tier=3
    ),
    "conversations.info": Method(info, ("channels:read", "groups:read", "im:read"), tier=3),
    "users.info": Method(user_info, ("users:read",), tier=4),
    "users.list": Method(user_list, ("users:read",), tier=2),
    "usergroups.list": Method(groups, ("usergroups:read",), tier=2),
    "usergroups.users.list": Method(group_users, ("usergroups:read",), tier=2),
    "auth.test": Method(auth_test, tier=0),
    "bots.info": Method(bot_info, ("users:read",), tier=3),
}
