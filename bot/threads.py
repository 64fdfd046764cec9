"""The threads for short calls of the event loop, which can be waited for before what they use is closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

_T = TypeVar("_T")
_MOST = 64  # charts, drawn one after the other, must not fill it


class Threads(ThreadPoolExecutor):
    """The default executor of one bot. A call goes on in its thread when whoever awaits it is cancelled."""

    def __init__(self, most: int = _MOST) -> None:
        super().__init__(most, "perfsleuth")
        self._open: set[Future[Any]] = set()

    def submit(self, call: Callable[..., _T], /, *args: Any, **named: Any) -> Future[_T]:
        """Begin a call, and know of it until it has ended."""
        future = super().submit(call, *args, **named)
        self._open.add(future)
        future.add_done_callback(self._open.discard)
        return future

    async def settled(self, within_s: float) -> bool:
        """Wait until no call goes on; False where one still does after so long."""
        going = [asyncio.wrap_future(one) for one in [*self._open] if not one.done()]
        if not going:
            return True
        done, late = await asyncio.wait(going, timeout=within_s)
        for one in done:
            if not one.cancelled():
                one.exception()  # whoever began it has gone: it is nobody's any more
        return not late
