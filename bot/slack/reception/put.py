"""A question of /perf ask is put into its channel, once, so that the answer has a thread."""

from __future__ import annotations

from time import time
from typing import Any

from bot.letter import Letter
from bot.narrator import Line
from bot.slack.api.pace import URGENT
from bot.slack.api.patience import ask_slack
from bot.slack.api.troubles import NO_PLACE, Refused
from bot.slack.api.wire import Wire
from bot.slack.blocks import marked, render
from bot.slack.reception.bodies import Ask
from bot.store import Incoming

_FRESH_S = 5.0  # older than this, an earlier try may have put it there
_BEFORE_S = 10.0  # the clocks of Slack and of this machine may differ by so much
INVITE = "I am not in this channel, so I cannot answer here. Invite me with /invite @perfsleuth, then ask again."


async def put_question(wire: Wire, ask: Ask, incoming: Incoming) -> tuple[str | None, str | None]:
    """Return the ts of the question in the channel, or what to tell who asked where that cannot be.

    Raises SlackTrouble where it is to be tried again: an earlier try is looked for first.
    """
    key = f"say:{incoming.id}"
    if time() - incoming.at > _FRESH_S and (found := await _there(wire, ask, key, incoming.at)):
        return found, None
    words = render(
        Letter(
            key=key,
            kind="word",
            channel=ask.channel,
            parts=(Line("said", f"@{ask.name or ask.user} asks: {ask.text}"),),
        ),
        {},
    )
    try:
        answer = await wire.call(
            "chat.postMessage",
            channel=ask.channel,
            urgency=URGENT,
            text=words.text,
            blocks=words.blocks,
            unfurl_links=False,
            unfurl_media=False,
        )
    except Refused as why:
        if why.error in NO_PLACE:
            return None, INVITE
        return None, f"Slack does not let me write here ({why.error}); perfsleuth doctor says more."
    return str(answer["ts"]), None


async def _there(wire: Wire, ask: Ask, key: str, at: float) -> str | None:
    try:
        answer = await ask_slack(
            wire,
            "conversations.history",
            channel=ask.channel,
            oldest=f"{at - _BEFORE_S:.6f}",
            limit=200,
        )
    except Refused:
        return None
    messages: list[dict[str, Any]] = answer.get("messages") or []
    return next((str(told["ts"]) for told in messages if marked(told, key)), None)
