"""First replies go first: work begins when everybody who wrote just now has been answered with something."""

from __future__ import annotations

import threading
from time import monotonic, sleep

from bot.store import Store

LOOK_S = 0.05  # between two looks into the store, however many wait


class FirstReplies:
    """Twenty SSH handshakes, and the rules of twenty hosts, would hold up the twenty-first reply.

    Nobody waits longer than `within_s`, and a reply that is late by more holds nobody up: Slack may
    be away.
    """

    def __init__(self, store: Store, within_s: float) -> None:
        self._store = store
        self._within_s = within_s
        self._looking = threading.Lock()
        self._looked_at = -LOOK_S
        self._owed = False

    def wait(self) -> None:
        """Return when no first reply is owed any more. Raises StoreError."""
        end = monotonic() + self._within_s
        while monotonic() < end and self._are_owed():
            sleep(LOOK_S)

    def _are_owed(self) -> bool:
        with self._looking:  # one look serves all who wait
            if monotonic() - self._looked_at >= LOOK_S:
                self._owed = self._store.owes_a_reply(self._within_s)
                self._looked_at = monotonic()
            return self._owed
