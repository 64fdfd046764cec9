"""What was said while nobody listened: after a start and a reconnect the channels are read again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from time import time
from typing import TYPE_CHECKING, Any

from bot.message import Message
from bot.slack.api.patience import ask_slack
from bot.slack.api.troubles import Refused, SlackTrouble
from bot.slack.api.us import Us
from bot.slack.api.wire import Wire
from bot.slack.reception.ears import Ears
from bot.slack.reception.intake import Intake
from bot.slack.reception.payload import Taken, message_id, message_of
from bot.store import Incoming, StoreError

if TYPE_CHECKING:
    from bot.store import Store

FURTHEST_S = 24 * 3600.0  # older questions have been given up by who asked
OVERLAP_S = 120.0  # what was heard is heard again: the inbox knows it
_PAGE, _PAGES = 200, 10
_AGAIN_S = 15.0
_LOG = logging.getLogger("perfsleuth.slack")


class CatchUp:
    """Finds missed messages in the channels and threads that we work in, and hands them on.

    They go the way of events: through `intake.keep`, which knows those that came already, to
    `take_up`, which raises nothing. Only messages are found again; a click that was lost showed an
    error to who clicked.
    """

    def __init__(
        self,
        store: Store,
        wire: Wire,
        us: Us,
        intake: Intake,
        ears: Ears,
        take_up: Callable[[Incoming], Awaitable[None]],
    ) -> None:
        self._store = store
        self._wire = wire
        self._us = us
        self._intake = intake
        self._ears = ears
        self._take_up = take_up
        self._wanted = asyncio.Event()
        self._pool = ThreadPoolExecutor(2, "perfsleuth-catch-up")

    def want(self) -> None:
        """Ask for a look back; until it is done, nothing counts as heard. In the event loop."""
        self._ears.deaf = True
        self._wanted.set()

    async def run(self) -> None:
        """Look back whenever it is wanted, until cancelled; again later where it fails."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            try:
                found = await self.look_back()
            except (StoreError, SlackTrouble) as why:
                _LOG.warning("missed messages are looked for again later: %s", why)
                await asyncio.sleep(_AGAIN_S)
                self._wanted.set()
                continue
            if found:
                _LOG.info("found %d messages that were missed", found)
            if not self._wanted.is_set():
                self._ears.deaf = False

    async def look_back(self) -> int:
        """Read all places again and handle what is new; return how many that were."""
        furthest = time() - FURTHEST_S
        heard = await self._in_thread(self._store.heard.all)
        threads = await self._in_thread(self._store.runs.recent_threads, furthest)
        since = {channel: max(float(ts) - OVERLAP_S, furthest) for channel, ts in heard.items()}
        known = {place for place in threads if _is_ts(place[1])}
        for channel, _ in known:
            since.setdefault(channel, furthest)
        found = 0
        for channel, start in since.items():
            parents = await self._read("conversations.history", channel, furthest)
            found += await self._take(channel, [told for told in parents if _ts(told) > start])
            listed = {str(parent["ts"]) for parent in parents}
            older = [ts for place, ts in known if place == channel and ts not in listed]
            for thread in (
                *older,
                *(str(one["ts"]) for one in parents if self._answered(one, start)),
            ):
                replies = await self._read("conversations.replies", channel, start, ts=thread)
                found += await self._take(channel, [told for told in replies if _ts(told) > start])
        return found

    def _answered(self, parent: dict[str, Any], since: float) -> bool:
        """Say whether somebody but us may have replied since then; reading a thread is dear."""
        if float(parent.get("latest_reply") or 0) <= since:
            return False
        shown = set(parent.get("reply_users") or ())
        all_shown = int(parent.get("reply_users_count") or 0) == len(shown) > 0
        return not all_shown or shown != {self._us.user}

    async def _read(
        self, method: str, channel: str, oldest: float, **where: Any
    ) -> list[dict[str, Any]]:
        """Return all messages since then, oldest first; none where the place is gone."""
        told: list[dict[str, Any]] = []
        asked: dict[str, Any] = {"oldest": f"{oldest:.6f}", "limit": _PAGE, **where}
        for _ in range(_PAGES):
            try:
                answer = await ask_slack(self._wire, method, channel=channel, within_s=60, **asked)
            except Refused as why:
                _LOG.debug("%s of a channel: %s", method, why.error)
                break
            told += answer.get("messages") or []
            cursor = (answer.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                break
            asked["cursor"] = cursor
        return sorted(told, key=_ts)

    async def _take(self, channel: str, messages: list[dict[str, Any]]) -> int:
        found = 0
        for told in messages:
            message = message_of(told, self._us, channel=channel)
            if message and await self._new(message):
                found += 1
        return found

    async def _new(self, message: Message) -> bool:
        taken = Taken(message_id(message), "message", message)
        if not await self._in_thread(self._intake.keep, taken):
            return False
        body = message.model_dump(mode="json")
        await self._take_up(Incoming(taken.id, taken.kind, body, time()))
        return True

    async def _in_thread(self, call: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, call, *arguments)


def _ts(message: dict[str, Any]) -> float:
    return float(message["ts"]) if _is_ts(message.get("ts")) else 0.0


def _is_ts(text: object) -> bool:
    whole, _, part = str(text or "").partition(".")
    return whole.isdigit() and part.isdigit()
