"""Calls in threads outlive who awaits them; what they use is closed after them."""

from __future__ import annotations

import asyncio
import threading

from bot.threads import Threads


async def _given_up(threads: Threads, begun: threading.Event, go_on: threading.Event) -> None:
    """Begin a call, and cancel who awaits it in the middle."""

    def call() -> None:
        begun.set()
        assert go_on.wait(60)

    asyncio.get_running_loop().set_default_executor(threads)
    asking = asyncio.create_task(asyncio.to_thread(call))
    while not begun.is_set():
        await asyncio.sleep(0.01)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)


def test_a_call_that_nobody_awaits_any_more_is_waited_for() -> None:
    begun, go_on = threading.Event(), threading.Event()

    async def run() -> None:
        threads = Threads(2)
        await _given_up(threads, begun, go_on)
        settling = asyncio.create_task(threads.settled(60))
        await asyncio.sleep(0.05)
        assert not settling.done()
        go_on.set()
        assert await settling is True

    asyncio.run(run())


def test_one_that_hangs_is_not_waited_for_for_ever() -> None:
    begun, go_on = threading.Event(), threading.Event()

    async def run() -> None:
        threads = Threads(2)
        await _given_up(threads, begun, go_on)
        assert await threads.settled(0.05) is False
        go_on.set()
        assert await threads.settled(60) is True

    asyncio.run(run())


def test_a_call_that_fails_when_nobody_listens_disturbs_nothing() -> None:
    async def run() -> None:
        threads = Threads(1)
        gate = threading.Event()

        def call() -> None:
            assert gate.wait(60)
            raise ValueError("nobody hears this")

        future = threads.submit(call)
        settling = asyncio.create_task(threads.settled(60))
        gate.set()
        assert await settling is True
        assert isinstance(future.exception(), ValueError)
        assert await threads.settled(0) is True
        threads.shutdown()

    asyncio.run(run())
