"""Slack away for all: who tries then, how often, and when it is over."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.slack.api.troubles import Away, SlackTrouble

FROM = 3  # failures in a row with no success between: one lost answer is no outage
_FIRST_S, _LONGEST_S = 0.5, 30.0


class Outage:
    """Counts failures of a workspace. While it is away one call at a time tries, ever more rarely."""

    def __init__(self, *, longest_s: float = _LONGEST_S) -> None:
        self._longest_s = longest_s
        self._failures = 0
        self._next_at = 0.0
        self._one = asyncio.Lock()

    @property
    def lasts(self) -> bool:
        """Say whether Slack is away now."""
        return self._failures >= FROM

    def back_off_s(self, failures: int) -> float:
        """Say how long to wait after so many failures: doubling, up to the longest, never in step."""
        wait_s = min(self._longest_s, _FIRST_S * 2.0 ** min(failures - 1, 16))
        return wait_s * random.uniform(0.75, 1.0)  # noqa: S311 - apart, not secret

    @asynccontextmanager
    async def attempt(self) -> AsyncIterator[None]:
        """Let a call try, in its turn; learn from how it ends."""
        if self.lasts:
            async with self._one:
                if self.lasts:  # it may have ended while others tried
                    await asyncio.sleep(max(0.0, self._next_at - time.monotonic()))
                    async with self._counted():
                        yield
                    return
        async with self._counted():
            yield

    @asynccontextmanager
    async def _counted(self) -> AsyncIterator[None]:
        try:
            yield
        except Away:
            self._failures += 1
            self._next_at = time.monotonic() + self.back_off_s(self._failures - FROM + 1)
            raise
        except SlackTrouble:
            self._failures = 0  # it answered
            raise
        else:
            self._failures = 0
