"""How often a method may be called, and how often a channel may be posted to."""

from __future__ import annotations

import math
import time

from bot.demo.workspace.refused import Refused
from bot.demo.workspace.settings import Settings

# https://docs.slack.dev/apis/web-api/rate-limits: calls a minute of each tier
TIERS = {1: 1, 2: 20, 3: 50, 4: 100}
POSTS = ("chat.postMessage", "chat.startStream", "files.completeUploadExternal")


class Bucket:
    """Tokens that come back with time."""

    def __init__(self, per_s: float, size: float) -> None:
        self.per_s, self.size, self.tokens = per_s, size, size
        self.at = time.monotonic()

    def wait_s(self) -> float:
        """Take a token: 0; or, when there is none, the seconds until there is one."""
        now = time.monotonic()
        self.tokens = min(self.size, self.tokens + (now - self.at) * self.per_s)
        self.at = now
        if self.tokens >= 1:
            self.tokens -= 1
            return 0.0
        return (1 - self.tokens) / self.per_s


class Rates:
    """Buckets of methods and channels; Refused with 429 when one is empty."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._methods: dict[str, Bucket] = {}
        self._channels: dict[str, Bucket] = {}

    def check(self, method: str, tier: int, channel: str | None) -> None:
        """Count this call. Tier 0: no limit of its own."""
        if not self.settings.rates:
            return
        per_minute = self.settings.per_minute.get(method, TIERS.get(tier, 0))
        if per_minute:
            self._take(self._methods.setdefault(method, Bucket(per_minute / 60, per_minute)))
        if channel and method in POSTS:
            new = Bucket(self.settings.messages_per_s, self.settings.message_burst)
            self._take(self._channels.setdefault(channel, new))

    @staticmethod
    def _take(bucket: Bucket) -> None:
        if wait_s := bucket.wait_s():
            raise too_many(wait_s)


def too_many(seconds: float) -> Refused:
    """429 with the whole seconds to wait, as Slack gives them."""
    refused = Refused("ratelimited", status=429)
    refused.retry_after_s = max(1, math.ceil(seconds))
    return refused
