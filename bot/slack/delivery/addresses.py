"""Where the looks of a run can be read: the permalink of its trail, for the evidence that is cited."""

from __future__ import annotations

import asyncio
import re

from bot.letter import Letter
from bot.narrator import Line
from bot.slack.api.troubles import SlackTrouble
from bot.slack.api.wire import Wire
from bot.store import Run, Store, StoreError

_CITED = re.compile(r"\bE\d{1,4}\b")


class Addresses:
    """Permalinks of trails, asked for once and kept in the store."""

    def __init__(self, store: Store, wire: Wire) -> None:
        self._store = store
        self._wire = wire
        self._asking: set[asyncio.Task[str | None]] = set()

    async def of(self, letter: Letter) -> dict[str, str]:
        """Return the address of each look that a letter cites; none where no trail was shown."""
        cited = set(_CITED.findall(letter.model_dump_json(include={"parts"})))
        cited |= {name for part in letter.parts if isinstance(part, Line) for name in part.cites}
        if letter.run is None or not cited:
            return {}
        url = await self._of_run(letter.run)
        return dict.fromkeys(cited, url) if url else {}

    def learn(self, trail: Letter, ts: str) -> None:
        """Ask for the address of a trail that was just sent; nobody waits for it."""
        task = asyncio.create_task(self._ask(trail.key, trail.channel, ts))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _of_run(self, run_id: int) -> str | None:
        run = await asyncio.to_thread(self._store.runs.get, run_id)
        for number in _whose(run) if run else ():
            key = f"run:{number}:trail"
            if url := await asyncio.to_thread(self._store.letters.link_of, key):
                return url
            trail = await asyncio.to_thread(self._store.letters.get, key)
            ts = await asyncio.to_thread(self._store.letters.ts_of, key)
            if trail and ts:
                return await self._ask(key, trail.channel, ts)
        return None

    async def _ask(self, key: str, channel: str, ts: str) -> str | None:
        try:
            answer = await self._wire.call("chat.getPermalink", channel=channel, message_ts=ts)
            url = str(answer.get("permalink") or "")
            if url:
                await asyncio.to_thread(self._store.letters.link, key, url)
        except (SlackTrouble, StoreError):
            return None  # an answer without links is an answer
        return url or None


def _whose(run: Run) -> list[int]:
    """Name the runs whose trail may hold the looks: who joined has looked at nothing itself."""
    return [number for number in (run.joins, run.id, run.about) if number is not None]
