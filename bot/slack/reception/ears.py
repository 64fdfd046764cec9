"""Up to where each channel was heard, so that what was missed can be asked for."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.store import Store


class Ears:
    """The newest message of each channel with work of ours; kept by `flush`, never while `deaf`.

    After a lost connection newer messages come in before those that were missed are found, so what
    is kept must stand still until then.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._guard = threading.Lock()
        self._newest: dict[str, str] = {}
        self._kept: set[str] = set(store.heard.all())
        self.deaf = False

    def hear(self, channel: str, ts: str, *, work: bool) -> None:
        """Note a message; a channel where we never had work is forgotten again."""
        with self._guard:
            if not work and channel not in self._kept:
                return
            if ts > self._newest.get(channel, ""):
                self._newest[channel] = ts
            new = channel not in self._kept
            self._kept.add(channel)
        if new:
            self._store.heard.note(channel, ts)

    def flush(self) -> None:
        """Keep what was heard; raise StoreError if that cannot be."""
        with self._guard:
            heard = {} if self.deaf else dict(self._newest)
        for channel, ts in heard.items():
            self._store.heard.note(channel, ts)
        with self._guard:
            for channel, ts in heard.items():
                if self._newest.get(channel) == ts:
                    del self._newest[channel]
