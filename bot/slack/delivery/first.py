"""The first message of a trail: a stream where the workspace has it, else a message to be edited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from bot.letter import Letter
from bot.message import Message
from bot.narrator import Line
from bot.slack.api.pace import URGENT
from bot.slack.api.troubles import NO_PLACE, Refused, SlackTrouble, Throttled
from bot.slack.api.wire import Wire
from bot.slack.blocks import Rendered, TrailState, mark, task_chunks, trail_blocks
from bot.slack.delivery.live import Live
from bot.slack.delivery.plainly import plainly
from bot.slack.delivery.status import Missing
from bot.store import Run

Claim = Callable[[], Awaitable[bool]]
_STREAM, _POST = "chat.startStream", "chat.postMessage"
_SPARE = 3  # streams of a burst that are kept for messages whose post Slack puts off


class First:
    """Places first messages. `team` is our workspace, for people of whom no other is known."""

    def __init__(self, wire: Wire, missing: Missing, team: str) -> None:
        self._wire = wire
        self._missing = missing
        self._team = team

    def waits(self, channel: str) -> bool:
        """Say whether a message into this channel would have to wait now."""
        return self._wire.outage.lasts or self._wire.pace.wait_s(_POST, channel) > 0

    async def post(
        self, letter: Letter, claim: Claim, shown: Rendered, urgency: int = URGENT
    ) -> str | None:
        """Post a message that stays as it is; None where another process has the letter."""
        async with self._wire.slot(_POST, letter.channel, urgency):
            return await self._post(letter, shown) if await claim() else None

    async def place(
        self, live: Live, letter: Letter, claim: Claim, urgency: int = URGENT
    ) -> str | None:
        """Place a live message; raise SlackTrouble.

        Nobody waits for a stream: where it may not be begun now, or is refused, the message is
        posted, and its edits tell the same. Nor for a post: where Slack puts that off, a stream is
        begun, which is another method and so another limit of Slack's.
        """
        async with self._wire.slot(_POST, letter.channel, urgency):
            if not await claim():
                return None
            refused: SlackTrouble | None = None
            if self._may_stream(live.run, leaving=_SPARE):
                try:
                    return await self._stream(live, letter)
                except (Refused, Throttled) as why:
                    refused = why
            state = live.state
            try:
                ts = await self._post(letter, trail_blocks(state, mark(letter.key)))
            except Throttled:
                if refused is None and self._may_stream(live.run):
                    with suppress(Refused, Throttled):
                        return await self._stream(live, letter)
                raise
            if isinstance(refused, Refused) and refused.error not in NO_PLACE:
                self._missing.note(_STREAM)
            live.placed(ts, state)
            return ts

    def _may_stream(self, run: Run, *, leaving: int = 0) -> bool:
        if run.ended or not run.thread or self._missing.has(_STREAM):
            return False
        return self._wire.pace.take(_STREAM, leaving=leaving)

    async def _stream(self, live: Live, letter: Letter) -> str:
        run, state = live.run, live.state
        answer = await self._wire.send(
            _STREAM,
            channel=letter.channel,
            thread_ts=letter.thread or run.thread,
            recipient_user_id=run.user,
            recipient_team_id=_team_of(run) or self._team,
            task_display_mode="plan",
            chunks=task_chunks(None, state, mark(letter.key)),
        )
        ts = str(answer["ts"])
        live.placed(ts, state, streams=True)
        return ts

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
    if run.kind in ("host", "plan") and run.host:
        return f"is looking at {run.host}"
    if run.kind == "experiment" and run.host:
        return f"is changing {run.host}, and measures"
    return "is reading your files" if run.kind == "files" else "is looking for the answer"


def _team_of(run: Run) -> str:
    try:
        return Message.model_validate_json(run.message).team
    except ValidationError:
        return ""
