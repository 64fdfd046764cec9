"""The courier: takes letters from the store to Slack, each thread in its order, until all are there."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque

from bot.slack.delivery.postman import Postman
from bot.store import Due, StoreError
from bot.store.letters import Letters

POLL_S = 1.0
_AT_ONCE = 100
_STORE_AGAIN_S = 2.0
_FLUSH_POLL_S = 0.05
_LOG = logging.getLogger("perfsleuth.slack")
Place = tuple[str, str, bool]


class Courier:
    """Polls the outbox, and looks at once when it is told. Runs in the bot's event loop.

    Letters of one thread go one after the other; a letter that must wait holds those behind it,
    which the store sees to. The end of a trail goes beside them: no answer waits for an edit.
    """

    def __init__(self, postman: Postman, letters: Letters, *, poll_s: float = POLL_S) -> None:
        self._postman = postman
        self._letters = letters
        self._poll_s = poll_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()
        self._lanes: dict[Place, deque[Due]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._taken: set[str] = set()

    def wake(self) -> None:
        """There are letters. May be called from every thread."""
        if self._loop is None:
            return
        try:
            self._loop.call_soon_threadsafe(self._woken.set)
        except RuntimeError:
            return  # the loop has ended: who starts next will find them

    async def run(self) -> None:
        """Deliver until cancelled."""
        self._loop = asyncio.get_running_loop()
        try:
            while True:
                self._woken.clear()
                await self._look()
                try:
                    async with asyncio.timeout(self._poll_s):
                        await self._woken.wait()
                except TimeoutError:
                    continue
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def flush(self, within_s: float) -> bool:
        """Wait until every letter is delivered, for so long; say whether they are."""
        end = time.monotonic() + within_s
        while time.monotonic() < end:
            self.wake()
            try:
                if not await asyncio.to_thread(self._letters.count_open):
                    return True
            except StoreError as why:
                _LOG.error("%s", why)
            await asyncio.sleep(_FLUSH_POLL_S)
        return False

    async def _look(self) -> None:
        for due in await self._due():
            if due.letter.key not in self._taken:
                self._take(due)

    async def _due(self) -> list[Due]:
        try:
            return await asyncio.to_thread(self._letters.due, _AT_ONCE + len(self._taken))
        except StoreError as why:
            _LOG.error("%s", why)
            return []

    def _take(self, due: Due) -> None:
        letter = due.letter
        self._taken.add(letter.key)
        place = (letter.channel, letter.thread or "", letter.key.endswith(":trail-end"))
        if place in self._lanes:
            self._lanes[place].append(due)
            return
        self._lanes[place] = deque([due])
        task = asyncio.create_task(self._drive(place))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _drive(self, place: Place) -> None:
        """Deliver what is in a lane; after a letter that must wait the rest is left to the store."""
        lane = self._lanes[place]
        try:
            while lane:
                due = lane[0]
                wait_s = await self._deliver(due)
                lane.popleft()
                self._taken.discard(due.letter.key)
                if wait_s is not None:
                    asyncio.get_running_loop().call_later(wait_s, self._woken.set)
                    return
        finally:
            self._taken.difference_update(due.letter.key for due in lane)
            del self._lanes[place]

    async def _deliver(self, due: Due) -> float | None:
        """Try once, in a task of its own: what a fault of ours breaks is this letter alone."""
        task = asyncio.create_task(self._postman.deliver(due))
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
        try:
            fault = task.exception()
            if fault is None:
                return task.result()
            if isinstance(fault, StoreError):
                _LOG.error("%s", fault)
                return _STORE_AGAIN_S
            await self._postman.broken(due.letter, type(fault).__name__)
        except StoreError as why:
            _LOG.error("%s", why)
            return _STORE_AGAIN_S
        return None
