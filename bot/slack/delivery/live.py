"""The one live message of a run: a stream while that lasts, edits of the same message after it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

from bot.audience import Happening
from bot.slack.api.pace import SOON, WHENEVER
from bot.slack.api.troubles import NO_RIGHT, Away, Refused, Throttled
from bot.slack.api.wire import Wire
from bot.slack.blocks import Rendered, TrailState, mark, task_chunks, trail_blocks
from bot.slack.delivery.plainly import plainly
from bot.store import Run

# Slack ends a stream after about 5 minutes, whether or not it is written to (reported for
# slack-sdk as #1859): ours is left before.
STREAM_S = 240.0
_GAP_S = 1.0  # between two changes of one message: what comes meanwhile goes together
_AGAIN_S = 30.0


class Live:
    """What a run's message shows, and what it should show; `show` brings the one to the other.

    A stream that grows old is stopped, and the trail goes on by edits of the same message. A second
    stream would be a second message: a channel should see one thread, and its link one place where
    all looks stand. The same happens when the stream fails for any reason. An edit holds the
    whole state, so nothing is lost by leaving a stream, nor said twice by trying an edit again.
    """

    def __init__(self, wire: Wire, run: Run, *, stream_s: float, gap_s: float = _GAP_S) -> None:
        self.run = run
        self.state = TrailState("", stop=run.id)
        self.shown: TrailState | None = None
        self.ts: str | None = None
        self.opening = False
        self.told = False  # of what is done: not where another process does it
        self.recalling: list[Happening] | None = (
            None  # events that came while the past is being read
        )
        self._wire = wire
        self._stream_s = stream_s
        self._gap_s = gap_s
        self._streams_until: float | None = None
        self._stray = False  # a stream may be open that we do not write to
        self._left = False
        self._changed = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None

    @property
    def key(self) -> str:
        """The key of its letter, which is also its mark."""
        return f"run:{self.run.id}:trail"

    def placed(self, ts: str, shown: TrailState | None, *, streams: bool = False) -> None:
        """The message is there. Without `shown` it was posted by a process that is dead."""
        self.ts, self.shown, self._stray = ts, shown, shown is None
        self._streams_until = time.monotonic() + self._stream_s if streams else None
        if self._pump is None and not self._left:
            self._pump = asyncio.create_task(self._keep_up())
        self._changed.set()

    def become(self, state: TrailState) -> None:
        """Show this from now on."""
        self.state = state
        self._changed.set()

    def hear(self, event: Happening) -> None:
        """Something happened."""
        self.told = True
        if self.recalling is not None:
            self.recalling.append(event)
        else:
            self.become(self.state.after(event))

    def recalled(self, past: TrailState) -> None:
        """The past was read: what came meanwhile follows it."""
        events, self.recalling = self.recalling or [], None
        for event in events:
            past = past.after(event)
        self.become(past)

    async def finish(self, note: str) -> None:
        """Show the end, and stop what streams; raise SlackTrouble. May be tried again."""
        await self.leave()
        self.state = replace(self.state.over(), note=note)
        if self._streams_until is not None or self._stray:
            await self._stop("active")
        if self.shown != self.state:
            await self._edit(SOON)

    async def leave(self) -> None:
        """Show nothing more of what comes."""
        self._left = True
        if self._pump:
            self._pump.cancel()
            await asyncio.wait({self._pump})

    async def _keep_up(self) -> None:
        while True:
            await self._change()
            if self._old and not self.told:
                # Nothing of it was done here. Who does it may be another process, and have ended it:
                # what we know would stand over what that one said.
                self._streams_until, self._stray = None, True
            if self.state == self.shown and not self._old:
                continue
            try:
                await self._show()
                await asyncio.sleep(self._gap_s)
            except Throttled:
                self._changed.set()  # the pace holds the next one
            except Away:
                self._changed.set()
                await asyncio.sleep(self._wire.outage.back_off_s(1))
            except Refused as why:
                if why.error not in NO_RIGHT:
                    return  # the message is gone, or not ours to change; the verdict comes anyway
                self._changed.set()
                await asyncio.sleep(_AGAIN_S)

    @property
    def _old(self) -> bool:
        return self._streams_until is not None and time.monotonic() >= self._streams_until

    async def _change(self) -> None:
        """Wait until there is something new to show, or the stream has grown old."""
        until = self._streams_until
        left_s = None if until is None else max(0.0, until - time.monotonic())
        try:
            async with asyncio.timeout(left_s):
                await self._changed.wait()
        except TimeoutError:
            return
        self._changed.clear()

    async def _show(self) -> None:
        if self._streams_until is not None and not self._old:
            await self._append()
            return
        if self._streams_until is not None or self._stray:
            await self._stop("processing")
        try:
            await self._edit(WHENEVER)
        except Refused as why:
            if why.error != "streaming_state_conflict":
                raise
            self._stray = True
            self._changed.set()

    async def _append(self) -> None:
        try:
            async with self._wire.slot("chat.appendStream", urgency=WHENEVER):
                state = self.state
                if chunks := task_chunks(self.shown, state):
                    await self._call("chat.appendStream", chunks=chunks)
        except (Refused, Away) as why:
            # Whether it was appended or not, whether the stream lives or not: an edit says it all.
            self._streams_until, self._stray, self.shown = None, True, None
            self._changed.set()
            if isinstance(why, Away):
                raise
        else:
            self.shown = state

    async def _stop(self, session: str) -> None:
        """End the stream; that there is none to end is what most errors say, and they all mean it."""
        try:
            async with self._wire.slot("chat.stopStream"):
                await self._call("chat.stopStream", session_status=session)
        except Refused:
            pass
        self._streams_until, self._stray, self.shown = None, False, None

    async def _edit(self, urgency: int) -> None:
        async with self._wire.slot("chat.update", urgency=urgency):
            state = self.state

            async def send(form: Rendered) -> dict[str, Any]:
                return await self._call("chat.update", text=form.text, blocks=form.blocks)

            await plainly(trail_blocks(state, mark(self.key)), send)
        self.shown = state

    async def _call(self, method: str, **said: Any) -> dict[str, Any]:
        return await self._wire.send(method, channel=self.run.channel, ts=self.ts, **said)
