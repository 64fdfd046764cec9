"""The trails: one live message for each run, which tells what is done while it is done."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

from bot.audience import Happening
from bot.experiment.step import Step, done
from bot.letter import Letter
from bot.slack.api.pace import URGENT
from bot.slack.api.troubles import NO_RIGHT, Away, Refused, Throttled
from bot.slack.api.wire import Wire
from bot.slack.blocks import TrailState, render
from bot.slack.delivery.first import Claim, First, does, titled
from bot.slack.delivery.live import STREAM_S, Live
from bot.slack.delivery.status import REFRESH_S, Missing, Status
from bot.store import Run, Store, StoreError
from tools.errors import CaseError
from tools.evidence import Evidence
from tools.probes import PROBES

GOES_ON = "I was restarted and go on."
_LOG = logging.getLogger("perfsleuth.slack")


class Trails:
    """An Audience: told from worker threads, it shows in the event loop that it was made in.

    The courier brings the first message of a trail (`open`) and its end (`finish`), because those
    must arrive; what happens between is shown as well as Slack allows, and never stored.
    `team` is our workspace, for people of whom no other is known; `wake` tells the courier.
    """

    def __init__(
        self,
        store: Store,
        wire: Wire,
        *,
        team: str,
        wake: Callable[[], None],
        stream_s: float = STREAM_S,
    ) -> None:
        self._store = store
        self._wire = wire
        self._wake = wake
        self._stream_s = stream_s
        missing = Missing()
        self._first = First(wire, missing, team)
        self._status = Status(wire, missing)
        self._loop = asyncio.get_running_loop()
        self._lives: dict[int, Live] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._spawn(self._refresh())

    def began(self, run: Run, looks: int) -> None:
        """A run begins, or goes on after a restart with `looks` already taken."""
        self._soon(self._begin, run, looks)

    def tell(self, run: Run, event: Happening) -> None:
        """Show what happened."""
        self._soon(self._hear, run, event)

    def ended(self, run: Run) -> None:
        """Have its letters delivered, the end of the trail among them, by whichever process is first."""
        self._soon(self._leave, run)
        self._wake()

    def letters(self) -> None:
        """Have letters delivered."""
        self._wake()

    async def open(self, letter: Letter, claim: Claim, urgency: int = URGENT) -> str | None:
        """Post the first message of a trail and return its ts; None where another process has it.

        That we are at work is shown after it, which would clear the line; before it only where the
        message has to wait. Raises SlackTrouble and StoreError.
        """
        run = await asyncio.to_thread(self._store.runs.get, letter.run or 0)
        if run is None or run.state == "joined":
            return await self._first.post(letter, claim, render(letter, {}), urgency)
        live = self._live(run)
        live.opening = True
        if self._first.waits(letter.channel):
            self._works(run)
        try:
            live.become(titled(live.state.over() if run.ended else live.state, letter))
            ts = await self._first.place(live, letter, claim, urgency)
        except (Throttled, Away):
            self._works(run)
            raise
        finally:
            live.opening = False
        if ts is not None:
            self._works(run)
        return ts

    def _works(self, run: Run) -> None:
        if not run.ended:
            self._status.working(run.channel, run.thread, does(run), run.text)

    async def found(self, letter: Letter, ts: str) -> None:
        """The message of a trail was there already, posted by a process that is dead."""
        run = await asyncio.to_thread(self._store.runs.get, letter.run or 0)
        if run is not None and not run.ended and run.state != "joined":
            live = self._live(run)
            live.become(titled(live.state, letter))
            live.placed(ts, None)

    async def finish(self, letter: Letter, claim: Claim) -> str | None:
        """Bring a trail to its end, whoever began it; None where its first message is still to come.

        Raises SlackTrouble and StoreError, and may be tried again.
        """
        run = await asyncio.to_thread(self._store.runs.get, letter.run or 0)
        trail = f"run:{letter.run}:trail"
        status = await asyncio.to_thread(self._store.letters.status_of, trail)
        if status in ("due", "sending") or not await claim():
            return None
        live = self._lives.get(run.id) if run else None
        known = live is not None and live.told and live.ts is not None
        if run and status == "sent" and not known and not run.joins:
            live = self._live(run)
            await self._recall(live, run, None)
        if run and live:
            try:
                if live.ts is not None:
                    await live.finish("Stopped." if run.state == "stopped" else "")
            except Refused as why:
                if why.error not in NO_RIGHT:
                    await self._drop(live)  # its message is gone, and no try will come
                raise
            await self._drop(live)
        return ""

    async def close(self) -> None:
        """Leave everything as it is; who starts next goes on."""
        for task in self._tasks:
            task.cancel()
        for live in list(self._lives.values()):
            await live.leave()
        await self._status.settle()

    def _soon(self, act: Callable[..., None], *of: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(act, *of)
        except RuntimeError:
            return  # the loop has ended, and nobody watches any more

    def _begin(self, run: Run, looks: int) -> None:
        live = self._live(run)
        live.run = run
        if looks or not (live.ts or live.opening):
            live.recalling = []
            self._spawn(self._recall(live, run, looks))
        else:
            live.become(replace(live.state, note=""))

    def _hear(self, run: Run, event: Happening) -> None:
        if live := self._lives.get(run.id):
            live.hear(event)

    def _leave(self, run: Run) -> None:
        if live := self._lives.get(run.id):
            self._spawn(live.leave())

    async def _refresh(self) -> None:
        """Keep the line under the threads at work, and forget what another process ended."""
        while True:
            await asyncio.sleep(REFRESH_S)
            for live in list(self._lives.values()):
                try:
                    run = await asyncio.to_thread(self._store.runs.get, live.run.id)
                except StoreError as why:
                    _LOG.warning("%s", why)
                    continue
                if run is None or run.ended:
                    await live.leave()
                    self._lives.pop(live.run.id, None)
                elif live.run.state == "running" and self._lives.get(run.id) is live:
                    self._status.still(run.channel, run.thread, does(run))

    async def _recall(self, live: Live, run: Run, looks: int | None) -> None:
        """Read what a dead process knew: where the message is, its title, what was seen."""
        ts, title = None, live.state.title
        seen: Sequence[Evidence | Step] = ()
        try:
            ts = await asyncio.to_thread(self._store.letters.ts_of, live.key)
            letter = await asyncio.to_thread(self._store.letters.get, live.key)
            title = titled(live.state, letter).title if letter else title
            seen = await asyncio.to_thread(self._past, run)
        except (StoreError, CaseError) as why:
            _LOG.warning("%s", why)
        past = TrailState.of(title or live.state.title, seen[:looks], stop=run.id)
        live.recalled(past.noting(GOES_ON) if looks or run.restarts else past)
        if ts and not (live.ts or live.opening):
            live.placed(ts, None)

    def _past(self, run: Run) -> Sequence[Evidence | Step]:
        if run.kind == "experiment":
            return [done(said) for said in self._store.experiments.said(run.id)]
        case = self._store.cases.load(run.id)
        return case.evidence(PROBES) if case else []

    def _live(self, run: Run) -> Live:
        if run.id not in self._lives:
            self._lives[run.id] = Live(self._wire, run, stream_s=self._stream_s)
        return self._lives[run.id]

    async def _drop(self, live: Live) -> None:
        await live.leave()
        self._lives.pop(live.run.id, None)
        where = (live.run.channel, live.run.thread)
        if all((one.run.channel, one.run.thread) != where for one in self._lives.values()):
            self._status.over(*where)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
