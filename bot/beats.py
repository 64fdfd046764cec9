"""The beats of a replica: it says that it lives, and takes over the work of one that says so no more."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Self

from bot.queue import APPLICATION_VERSION
from bot.store.replicas import Beat
from tools.errors import ToolsError

if TYPE_CHECKING:
    from bot.jobs import Jobs
    from bot.store import Store

EVERY_S = 5.0
# Without a beat for so long by the database's own clock, which is the same for all, a replica counts
# as dead: 30 to 35 s, so that with the queue's own pace its work begins again within a minute, also
# where others died since. We must have looked so often ourselves meanwhile, 15 s and more: a database
# that was away, or whose clock was set, gives everybody time to beat before that.
SILENT_S = 30.0
LOOKS = 4
_LOG = logging.getLogger("perfsleuth.jobs")


class Beats:
    """A thread of its own, so that a busy loop does not look like death. Only on a shared database."""

    def __init__(
        self, store: Store, jobs: Jobs, *, every_s: float = EVERY_S, silent_s: float = SILENT_S
    ) -> None:
        self._store, self._jobs = store, jobs
        self._every_s, self._silent_s = every_s, silent_s
        self._seen: dict[Beat, int] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="perfsleuth-beats", daemon=True)
        self._began = False

    def begin(self) -> Self:
        """Beat once, before any work is taken up, and then on; raises StoreError.

        Whoever had taken us for dead sees by this beat that our name lives again.
        """
        self._store.replicas.beat(APPLICATION_VERSION)
        self._look()
        self._began = True
        if self._store.shared:
            self._thread.start()
        return self

    @property
    def alive(self) -> bool:
        """Say whether it beats; always where nobody else could hear it."""
        return not self._store.shared or not self._began or self._thread.is_alive()

    def close(self) -> None:
        """Stop. What this replica leaves undone another one takes over a little later."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def once(self) -> None:
        """Beat, and look at the others; raises ToolsError."""
        if self._store.replicas.beat(APPLICATION_VERSION):
            _LOG.warning(
                "this replica was silent for so long that others took over its work; what it still does "
                "ends once all the same"
            )
        self._store.places.renew()
        for last in self._look():
            self._take_over(last)

    def _look(self) -> list[Beat]:
        """Return the last beats of those that are dead."""
        others = self._store.replicas.others()
        self._seen = {last: self._seen.get(last, 0) + 1 for last in others}
        return [
            last for last in others if last.ago_s >= self._silent_s and self._seen[last] >= LOOKS
        ]

    def _take_over(self, last: Beat) -> None:
        """Every step may be done twice, by two replicas or after a death in between."""
        if not self._store.replicas.let_go(last):
            return
        works = works_of(self._store, without=last)
        taken = self._jobs.take_over(last.executor, self._store.runs.open(), works)
        self._store.replicas.forget(last)
        if taken:
            _LOG.warning("%s is silent: %d pieces of its work are taken over", last.executor, taken)
        else:
            _LOG.info("%s is silent, and was doing nothing", last.executor)

    def _run(self) -> None:
        while not self._ended.wait(self._every_s):
            try:
                self.once()
            except ToolsError as why:
                _LOG.error("%s", why)


def works_of(store: Store, without: Beat | None = None) -> set[str]:
    """Return the application versions of all live replicas; raises StoreError."""
    others = [each.works for each in store.replicas.others() if each != without]
    return {APPLICATION_VERSION, *others}
