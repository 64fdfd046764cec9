"""Who may call Slack when: buckets of tokens, queues by urgency, and what 429 holds back."""

from __future__ import annotations

import asyncio
import bisect
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

# Calls that put a new message into a channel: "1 per second per channel, short bursts allowed"
# (docs.slack.dev/apis/web-api/rate-limits). We take no bursts: other apps post there as well.
MESSAGES = frozenset({
    "chat.postMessage", "chat.postEphemeral", "chat.startStream", "files.completeUploadExternal",
})  # fmt: skip
MESSAGE_EVERY_S = 1.0
# Tier 2 is 20 a minute, tier 3 is 50, tier 4 is 100, for each method and workspace (same page);
# half a minute's worth may go at once: Slack tolerates bursts, and what it does not it says.
_TIER: dict[str, int] = {
    "chat.startStream": 20,
    "chat.stopStream": 20,
    "chat.update": 50,
    "chat.appendStream": 100,
    "conversations.replies": 50,
    "conversations.history": 50,
    "files.completeUploadExternal": 100,
    "files.getUploadURLExternal": 100,
    "files.info": 100,
    "users.list": 20,
    "agents.sessions.setStatus": 50,
    "assistant.threads.setStatus": 600,  # of its own page
}
_AT_ONCE = 1 / 2

AGAIN, URGENT, SOON, WHENEVER = -1, 0, 1, 2
"""How pressing a call is: what 429 sent back, a first reply, a letter, an edit."""


@dataclass
class Bucket:
    """Tokens that come back with time. `per_s` a second, at most `most` at once."""

    per_s: float
    most: float
    tokens: float
    at: float

    def wait_s(self, now: float) -> float:
        """Say how long until there is a token."""
        self.tokens = min(self.most, self.tokens + max(0.0, now - self.at) * self.per_s)
        self.at = max(now, self.at)
        return 0.0 if self.tokens >= 1 - 1e-9 else (1 - self.tokens) / self.per_s


@dataclass
class _Queue:
    """Who waits for the same thing, the most urgent first."""

    tickets: list[tuple[int, int]] = field(default_factory=list)
    moved: asyncio.Event = field(default_factory=asyncio.Event)

    def leave(self, ticket: tuple[int, int]) -> None:
        self.tickets.remove(ticket)
        self.moved.set()


class Pace:
    """One for a workspace. `turn` returns when the call may go, and counts it.

    New messages queue by channel, everything else by method; so a first reply waits for no edit.
    What Slack answers with 429 holds the method, or for a new message the channel, and nothing
    else. `message_every_s` and `tiers` are for tests.
    """

    def __init__(
        self,
        *,
        message_every_s: float = MESSAGE_EVERY_S,
        tiers: dict[str, int] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._every_s = message_every_s
        self._tiers = _TIER if tiers is None else tiers
        self._now = now
        self._buckets: dict[str, Bucket] = {}
        self._held: dict[str, float] = {}  # until when
        self._queues: dict[str, _Queue] = {}
        self._number = count()

    def wait_s(self, method: str, channel: str | None = None) -> float:
        """Say how long a call would wait now, apart from who queues before it."""
        now = self._now()
        held = max(self._held.get(name, now) for name in (method, _place(method, channel))) - now
        return max(held, *(bucket.wait_s(now) for bucket in self._of(method, channel)), 0.0)

    async def turn(self, method: str, channel: str | None = None, urgency: int = SOON) -> None:
        """Wait for the turn of this call: by urgency, then in the order of asking."""
        place = _place(method, channel)
        queue = self._queues.setdefault(place, _Queue())
        ticket = (urgency, next(self._number))
        bisect.insort(queue.tickets, ticket)
        queue.moved.set()  # who was first may be so no more
        try:
            while queue.tickets[0] != ticket or (wait_s := self.wait_s(method, channel)) > 0:
                first = queue.tickets[0] == ticket
                await _moved(queue, wait_s if first else None)
            for bucket in self._of(method, channel):
                bucket.tokens -= 1
        finally:
            queue.leave(ticket)
            if not queue.tickets:
                del self._queues[place]
                self._forget()

    def take(self, method: str, *, leaving: int = 0) -> bool:
        """Count a call that may go at once and leaves so many more; else False, and nothing is counted."""
        if self.wait_s(method) > 0 or any(b.tokens < 1 + leaving for b in self._of(method, None)):
            return False
        for bucket in self._of(method, None):
            bucket.tokens -= 1
        return True

    def hold(self, method: str, channel: str | None, after_s: float) -> None:
        """Slack answered 429: hold what it speaks of."""
        name = _place(method, channel) if method == "chat.postMessage" else method
        self._held[name] = max(self._held.get(name, 0.0), self._now() + after_s)

    def _of(self, method: str, channel: str | None) -> list[Bucket]:
        found = []
        if channel and method in MESSAGES:
            found.append(self._bucket(_place(method, channel), 1 / self._every_s, 1))
        if a_minute := self._tiers.get(method):
            found.append(self._bucket(method, a_minute / 60, a_minute * _AT_ONCE))
        return found

    def _bucket(self, name: str, per_s: float, most: float) -> Bucket:
        if name not in self._buckets:
            self._buckets[name] = Bucket(per_s, most, most, self._now())
        return self._buckets[name]

    def _forget(self) -> None:
        """Keep no bucket of a channel that is full again: there may be thousands."""
        now = self._now()
        self._held = {name: until for name, until in self._held.items() if until > now}
        if len(self._buckets) > 1000:
            busy = {n: b for n, b in self._buckets.items() if b.wait_s(now) or b.tokens < b.most}
            self._buckets = busy


def _place(method: str, channel: str | None) -> str:
    return f"messages of {channel}" if channel and method in MESSAGES else method


async def _moved(queue: _Queue, wait_s: float | None) -> None:
    queue.moved.clear()
    try:
        async with asyncio.timeout(wait_s):
            await queue.moved.wait()
    except TimeoutError:
        return
