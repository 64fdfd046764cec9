"""The fake Slack in a thread of its own, for tests that are no coroutines and for bots that are processes."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Callable
from typing import Any, Self

from bot.demo.workspace import Workspace

ANSWER_S = 60


class FakeSlack:
    """Has all that Workspace has; what is called is run in the workspace's loop, and waited for."""

    def __init__(self, **settings: Any) -> None:
        self.workspace = Workspace(**settings)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="fake-slack", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        self.run(self.workspace.start)
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self.workspace.stop)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(ANSWER_S)
        self._loop.close()

    def run(self, what: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """Call it in the workspace's loop, and await it there if it is to be awaited."""

        async def inside() -> Any:
            found = what(*args, **named)
            return await found if inspect.isawaitable(found) else found

        return asyncio.run_coroutine_threadsafe(inside(), self._loop).result(ANSWER_S)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.workspace, name)
        if not inspect.ismethod(value):
            return value
        return lambda *args, **named: self.run(value, *args, **named)

    def until(self, so: Callable[[], Any], within_s: float = 60.0) -> Any:
        """Wait, in the test's own thread, for `so()` to be true, and give what it gave."""
        ends_at = time.monotonic() + within_s
        while not (found := so()):
            if time.monotonic() > ends_at:
                raise TimeoutError(f"not within {within_s} s")
            time.sleep(0.01)
        return found

    def connected(self, within_s: float = 60.0) -> None:
        """Wait for the bot's socket."""
        self.until(lambda: self.sockets.pick() is not None, within_s)
