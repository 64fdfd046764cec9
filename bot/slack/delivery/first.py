"""The first message of a trail: a stream where the workspace has it, else a message to be edited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from bot.letter import Letter
from bot.message import Message
from bot.narrator import Line
from bot.slack.api.pace import URGENT
from bot.slack.api.troubles import NO_PLACE, Refused, Throttled
from bot.slack.api.wire import Wire
from bot.slack.blocks import Rendered, TrailState, mark, task_chunks, trail_blocks
from bot.slack.delivery.live import Live
from bot.slack.delivery.plainly import plainly
from bot.slack.delivery.status import Missing
from bot.store import Run

Claim = Callable[[], Awaitable[bool]]
_STREAM, _POST = "chat.startStream", "chat.postMessage"


class First:
    """Places first messages. `team` is our workspace, for people of whom no other is known."""

    def __init__(self, wire: Wire, missing: Missing, team: str) -> None:
        self._wire = wire
        self._missing = missing
        self._team = team

    async def post(self, letter: Letter, claim: Claim, shown: Rendered) -> str | None:
        """Post a message that stays as it is; None where another process has the letter."""
        async with self._wire.slot(_POST, letter.channel, URGENT):
            return await self._post(letter, shown) if await claim() else None

    async def place(self, live: Live, letter: Letter, claim: Claim) -> str | None:
        """Place a live message; raise SlackTrouble.

        Nobody waits for a stream: where it may not be begun now, or is refused, the message is
        posted, and its edits tell the same.
        """
        async with self._wire.slot(_POST, letter.channel, URGENT):
            if not await claim():
                return None
            refused, streams = None, self._may_stream(live.run)
            state = live.state
            if streams:
                try:
                    ts = await self._stream(live.run, letter, state)
                except (Refused, Throttled) as why:
                    refused = why
                else:
                    live.placed(ts, state, streams=True)
                    return ts
            ts = await self._post(letter, trail_blocks(state, mark(letter.key)))
            if isinstance(refused, Refused) and refused.error not in NO_PLACE:
                self._missing.note(_STREAM)
            live.placed(ts, state)
            return ts

    def _may_stream(self, run: Run) -> bool:
        if run.ended or not run.thread or self._missing.has(_STREAM):
            return False
        return self._wire.pace.take(_STREAM)

    async def _stream(self, run: Run, letter: Letter, state: TrailState) -> str:
        answer = await self._wire.send(
            _STREAM,
            channel=letter.channel,
            thread_ts=letter.thread or run.thread,
            recipient_user_id=run.user,
            recipient_team_id=_team_of(run) or self._team,
            task_display_mode="plan",
            chunks=task_chunks(None, state, mark(letter.key)),
        )
        return str(answer["ts"])

    async def _post(self, letter: Letter, shown: Rendered) -> str:
        said: dict[str, Any] = {"unfurl_links": False, "unfurl_media": False}
        said |= {"thread_ts": letter.thread} if letter.thread else {}

        async def send(form: Rendered) -> dict[str, Any]:
            as_it_is = {"text": form.text, "blocks": form.blocks}
            return await self._wire.send(_POST, channel=letter.channel, **as_it_is, **said)

        return str((await plainly(shown, send))["ts"])


def titled(state: TrailState, letter: Letter) -> TrailState:
    """Return it with the first line of its letter as title; what more it says is a note for now."""
    first, *rest = [part.text for part in letter.parts if isinstance(part, Line)] or [""]
    return replace(state, title=first, note=" ".join(rest) or state.note)


def does(run: Run) -> str:
    """Say what we do, to follow our name: "is looking at CT129"."""
    if run.kind == "host" and run.host:
        return f"is looking at {run.host}"
    return "is reading your files" if run.kind == "files" else "is looking for the answer"


def _team_of(run: Run) -> str:
    try:
        return Message.model_validate_json(run.message).team
    except ValidationError:
        return ""
