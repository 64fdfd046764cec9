"""A payload of Slack becomes what is kept of it, or nothing where it does not concern us."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from bot.message import GivenFile, Message
from bot.slack.api.us import Us
from bot.slack.reception.bodies import Ask, Kind, Opened, Stop, Visit
from bot.slack.reception.clicks import pressed, reasoned
from bot.slack.reception.words import is_evidence, read
from tools.secrets import scrub

COMMAND, SHORTCUT = "/perf", "diagnose_this"
_TOLD = (None, "", "file_share", "thread_broadcast", "me_message")  # subtypes that a person writes
_FILES = 20  # of one message
_GONE = ("tombstone", "hidden_by_limit")
Payload = Mapping[str, Any]


@dataclass(frozen=True)
class Taken:
    """What is kept: `id` is the same for the same thing, however often and whichever way it comes."""

    id: str
    kind: Kind
    body: BaseModel


def recognise(body: Payload, us: Us) -> Taken | None:
    """Read any payload that Bolt dispatches; None where there is nothing to do for us."""
    if body.get("type") == "event_callback":
        event = body.get("event") or {}
        take = _EVENTS.get(str(event.get("type")))
        return take(event, body, us) if take else None
    if body.get("type") == "block_actions":
        return _taken("press", pressed(body))
    if body.get("type") == "view_submission":
        return _taken("press", reasoned(body))
    if body.get("type") == "message_action" and body.get("callback_id") == SHORTCUT:
        return _shortcut(body, us)
    if body.get("command") == COMMAND:
        return _command(body, us)
    return None


def message_of(
    event: Payload, us: Us, *, channel: str = "", direct: bool = False
) -> Message | None:
    """Read a message, told by an event or found in a history; None if no person wrote it for all.

    A message that does not address us is returned too: whether its thread is ours is for the caller.
    """
    user, ts = event.get("user"), event.get("ts")
    channel = str(event.get("channel") or channel)
    if not (user and ts and channel) or not _by_a_person(event, us):
        return None
    words = read(str(event.get("text") or ""), us.user)
    direct = direct or event.get("channel_type") == "im" or channel.startswith("D")
    mentioned = words.to_us or event.get("type") == "app_mention"
    return Message(
        team=str(event.get("user_team") or event.get("team") or us.team),
        channel=channel,
        ts=str(ts),
        thread=str(event.get("thread_ts") or ts),
        user=str(user),
        text=words.text,
        place="direct" if direct else "channel",
        addressed=direct or mentioned,
        others=words.others,
        files=files_of(event),
        pasted=words.pasted,
    )


def files_of(message: Payload) -> tuple[GivenFile, ...]:
    """Return the files of a message that are still there."""
    return tuple(
        GivenFile(
            id=str(file.get("id") or ""),
            name=scrub(str(file.get("name") or file.get("title") or "")[:200]),
            size=int(file.get("size") or 0),
            url=str(file.get("url_private_download") or file.get("url_private") or ""),
        )
        for file in (message.get("files") or [])[:_FILES]
        if file.get("mode") not in _GONE
    )


def message_id(message: Message) -> str:
    """Name a message in the inbox: a mention, its message event and the history tell one message."""
    return f"msg:{message.key}"


def _by_a_person(event: Payload, us: Us) -> bool:
    if event.get("bot_id") or event.get("user") in (us.user, "USLACKBOT"):
        return False
    return event.get("subtype") in _TOLD and not event.get("hidden")


def _message(event: Payload, body: Payload, us: Us) -> Taken | None:
    told = message_of({"team": body.get("team_id"), **event}, us)
    return Taken(message_id(told), "message", told) if told else None


def _visit(event: Payload, _body: Payload, _us: Us) -> Taken | None:
    if event.get("tab") != "home" or not event.get("user"):
        return None
    return Taken("", "visit", Visit(user=event["user"]))


def _opened(event: Payload, body: Payload, _us: Us) -> Taken | None:
    thread = event.get("assistant_thread") or {}
    user, channel, ts = (
        str(thread.get(key) or "") for key in ("user_id", "channel_id", "thread_ts")
    )
    if not (user and channel and ts):
        return None
    return Taken(_event_id(body), "opened", Opened(user=user, channel=channel, thread=ts))


def _stopped(event: Payload, body: Payload, _us: Us) -> Taken | None:
    user, channel = str(event.get("user") or ""), str(event.get("channel") or "")
    thread = str(event.get("thread_ts") or "")
    if not (user and channel and thread):
        return None
    return Taken(_event_id(body), "stop", Stop(user=user, channel=channel, thread=thread))


def _command(body: Payload, us: Us) -> Taken | None:
    """Only `ask` and `tune` are work; the other words of the command are answered in its ack."""
    typed = str(body.get("text") or "").strip()
    verb, _, rest = typed.partition(" ")
    if verb.lower() not in ("ask", "tune") or not rest.strip():
        return None
    rest = typed if verb.lower() == "tune" else rest
    asked = Ask(
        team=str(body.get("team_id") or us.team),
        user=str(body.get("user_id") or ""),
        channel=str(body.get("channel_id") or ""),
        text=read(rest, us.user).text,
        name=str(body.get("user_name") or "")[:80],
    )
    return Taken(f"cmd:{_digest(body)}", "ask", asked)


def _shortcut(body: Payload, us: Us) -> Taken | None:
    """The message that is pointed at is the evidence, or the question where it is short."""
    shown, channel = body.get("message") or {}, (body.get("channel") or {}).get("id")
    user, ts = (body.get("user") or {}).get("id"), shown.get("ts")
    if not (channel and user and ts):
        return None
    words, files = read(str(shown.get("text") or ""), us.user), files_of(shown)
    long = not files and not words.pasted and is_evidence(words.text)
    told = Message(
        team=str((body.get("team") or {}).get("id") or us.team),
        channel=str(channel),
        ts=f"{ts}+{_digest(body)[:8]}",  # pointed at again, it is another question
        thread=str(shown.get("thread_ts") or ts),
        user=str(user),
        text="" if long else words.text,
        place="shortcut",
        files=files,
        pasted=(words.text,) if long else words.pasted,
    )
    return Taken(message_id(told), "message", told)


def _taken(kind: Kind, found: tuple[str, BaseModel] | None) -> Taken | None:
    return found and Taken(found[0], kind, found[1])


def _event_id(body: Payload) -> str:
    return f"evt:{str(body.get('event_id') or '')[:60]}"


def _digest(body: Payload) -> str:
    """A trigger id opens modals for whoever holds it, so only its digest is kept."""
    told = str(body.get("trigger_id") or body.get("action_ts") or "")
    return hashlib.sha256(told.encode()).hexdigest()[:24]


_EVENTS: dict[str, Callable[[Payload, Payload, Us], Taken | None]] = {
    "app_mention": _message,
    "message": _message,
    "app_home_opened": _visit,
    "assistant_thread_started": _opened,
    "agent_session_stopped": _stopped,
}
