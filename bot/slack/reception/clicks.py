"""Clicks on our buttons and the modal behind "was this right?": whose run, which thread, by whom."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, get_args

from bot.letter import Button
from bot.slack.blocks.reason import CALLBACK, LONGEST
from bot.slack.reception.bodies import Press
from tools.secrets import scrub

_NUMBER = re.compile(r"[0-9]{1,15}")  # of a run; a larger one fits into no database
_DIGEST = re.compile(r"[0-9a-f]{64}")  # of what was shown
_DECIDES = ("approve", "decline")
Payload = Mapping[str, Any]


def pressed(body: Payload) -> tuple[str, Press] | None:
    """Read a click; None for an action that is none of ours, such as a link."""
    action: Payload = next(iter(body.get("actions") or []), {})
    name = action.get("action_id")
    value = str(action.get("value") or (action.get("selected_option") or {}).get("value") or "")
    user = str((body.get("user") or {}).get("id") or "")
    where, message = body.get("container") or {}, body.get("message") or {}
    channel = str(where.get("channel_id") or (body.get("channel") or {}).get("id") or "")
    ts = str(where.get("message_ts") or message.get("ts") or "")
    word, _, number = value.rpartition(":")
    if name not in get_args(Button) or not _NUMBER.fullmatch(number) or not (user and channel):
        return None
    if name in _DECIDES and not _DIGEST.fullmatch(word):
        return None
    press = Press(
        action=name,
        run=int(number),
        user=user,
        channel=channel,
        thread=str(message.get("thread_ts") or where.get("thread_ts") or ts),
        message=ts,
        right={"yes": True, "no": False}.get(word) if name == "right" else None,
        shown=word if name in _DECIDES else "",
        host=word if name == "know" else "",
    )
    return f"act:{name}:{value[-30:]}:{user}:{action.get('action_ts')}", press


def reasoned(body: Payload) -> tuple[str, Press] | None:
    """Read the reason that somebody gave for "no"."""
    view = body.get("view") or {}
    place = private(view.get("private_metadata"))
    user = str((body.get("user") or {}).get("id") or "")
    if view.get("callback_id") != CALLBACK or not place or not user:
        return None
    press = Press(
        action="right",
        run=place["run"],
        user=user,
        channel=place["channel"],
        thread=place["thread"],
        right=False,
        reason=scrub(_written(view))[:LONGEST],
    )
    return f"view:{view.get('id')}:{user}", press


def private(text: object) -> dict[str, Any] | None:
    """Read what we wrote into the modal: the run, and where its thread is."""
    try:
        place = json.loads(str(text or ""))
        return {
            "run": int(_numbered(place["run"])),
            "channel": str(place["channel"]),
            "thread": str(place["thread"]),
        }
    except (ValueError, TypeError, KeyError):
        return None


def _numbered(told: object) -> str:
    if not _NUMBER.fullmatch(str(told)):
        raise ValueError
    return str(told)


def _written(view: Payload) -> str:
    """Join what was typed, whatever the inputs of the modal are called."""
    blocks = ((view.get("state") or {}).get("values") or {}).values()
    typed = [field.get("value") for fields in blocks for field in fields.values()]
    return "\n".join(str(text) for text in typed if text).strip()
