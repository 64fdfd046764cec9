"""Before the ack: what came in is recognised and written down, each thing once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from bot.message import Message
from bot.slack.api.us import Us
from bot.slack.reception.ears import Ears
from bot.slack.reception.payload import COMMAND, Taken, recognise
from bot.store import Incoming, StoreError

if TYPE_CHECKING:
    from bot.store import Store

INCOMING = "incoming"  # where the listeners find it
NOT_TAKEN = 503  # no ack in Socket Mode and an error in HTTP mode: Slack sends it again
_LOG = logging.getLogger("perfsleuth.slack")
_RETRY = "x-slack-retry-num"


class Intake:
    """Bolt's global middleware. `apologise` tells a place, once, that the database does not answer.

    `foresee` is told who speaks to us, so that Slack is asked about them while we still write.
    """

    def __init__(
        self,
        store: Store,
        us: Us,
        ears: Ears,
        apologise: Callable[[Taken], Awaitable[None]],
        foresee: Callable[[str], None],
    ) -> None:
        self._store = store
        self._us = us
        self._ears = ears
        self._apologise = apologise
        self._foresee = foresee
        # a pool of its own: an ack must not wait for work, nor for charts and files
        self._pool = ThreadPoolExecutor(1, "perfsleuth-intake")
        self._waiting: list[tuple[Taken, asyncio.Future[bool]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._busy = 0
        self.closing = False

    async def take(
        self,
        body: dict[str, Any],
        context: AsyncBoltContext,
        request: AsyncBoltRequest,
        ack: AsyncAck,
        next: Callable[[], Awaitable[None]],
    ) -> BoltResponse | None:
        """Let new things pass on to the listeners; ack and stop for all others."""
        if self.closing:
            return BoltResponse(status=NOT_TAKEN)
        self._busy += 1
        try:
            taken = recognise(body, self._us)
            if taken and isinstance(taken.body, Message) and taken.body.addressed:
                self._foresee(taken.body.user)
            passes = await self._passes(taken, first=_is_first(request))
        finally:
            self._busy -= 1
        if passes is None:
            return BoltResponse(status=NOT_TAKEN)
        if taken and passes:
            context[INCOMING] = Incoming(
                taken.id, taken.kind, taken.body.model_dump(mode="json"), time()
            )
        elif body.get("command") != COMMAND:
            return await ack()
        elif taken:
            return await ack()  # the same command again
        await next()
        return None

    async def _passes(self, taken: Taken | None, *, first: bool) -> bool | None:
        """Say whether it is new; None if that cannot be known now, so that it comes again."""
        if taken is None or not taken.id:
            return taken is not None
        try:
            return await self._kept(taken)
        except StoreError as why:
            _LOG.error("not taken, so that Slack sends it again: %s", why)
        if first and not (isinstance(taken.body, Message) and not taken.body.addressed):
            await self._apologise(taken)
        return None

    async def _kept(self, taken: Taken) -> bool:
        """Write it down together with all that came meanwhile: a burst waits for few transactions."""
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((taken, answer))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        return await answer

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                kept = await loop.run_in_executor(
                    self._pool, self._keep_all, [taken for taken, _ in batch]
                )
            except Exception as why:  # noqa: BLE001 - each who waits is told, and tells it
                for _, answer in batch:
                    if not answer.done():
                        answer.set_exception(why)
            else:
                for (_, answer), new in zip(batch, kept, strict=True):
                    if not answer.done():
                        answer.set_result(new)

    def _keep_all(self, batch: Sequence[Taken]) -> list[bool]:
        with self._store.together(urgent=True):
            return [self.keep(taken) for taken in batch]

    def keep(self, taken: Taken) -> bool:
        """Write it down; say whether it is new and concerns us. Raises StoreError."""
        told = taken.body
        if isinstance(told, Message):
            work = told.addressed or self._in_our_thread(told)
            new = work and self._receive(taken)
            if told.place != "shortcut":
                self._ears.hear(told.channel, told.ts, work=work)
            return new
        return self._receive(taken)

    def _receive(self, taken: Taken) -> bool:
        return self._store.inbox.receive(taken.id, taken.kind, taken.body.model_dump(mode="json"))

    def _in_our_thread(self, told: Message) -> bool:
        if told.thread == told.ts:
            return False
        place = told.channel, told.thread
        # in this order: a question is in the inbox until its run is there
        return self._store.inbox.owes(*place) or bool(self._store.runs.in_thread(*place))

    async def close(self, within_s: float = 3.0) -> None:
        """Take nothing more, and let what is being taken be acknowledged."""
        self.closing = True
        end = monotonic() + within_s
        while self._busy and monotonic() < end:
            await asyncio.sleep(0.02)
        self._pool.shutdown(wait=False, cancel_futures=False)


def _is_first(request: AsyncBoltRequest) -> bool:
    """Socket Mode counts its tries from 0; HTTP mode sends no header with the first one."""
    return (request.headers.get(_RETRY) or ["0"])[0] == "0"
