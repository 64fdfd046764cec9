"""What is due becomes work: a summary of a local date is accepted once, by whichever replica is first."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from bot.access import Access, Asker
from bot.health.order import Order
from bot.health.schedule import Due, due
from bot.settings import Settings
from bot.settings.schedule import Schedule
from bot.store import Run, Store

_LOG = logging.getLogger("perfsleuth.work")


class Summaries:
    """Looks which summaries are due, by hosts.toml and by what people set in Slack; `now` may be a test's."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        access: Access,
        enqueue: Callable[[Run], None],
        now: Callable[[], float] | None = None,
    ) -> None:
        self._store, self._settings, self._access = store, settings, access
        self._enqueue, self._now = enqueue, now or store.now

    def accept(self) -> int:
        """Accept what is due now and not yet accepted; return how many. Raises ToolsError.

        The key of a run is unique over all replicas. What is accepted and cannot be enqueued is put
        on its way by `Jobs.reconcile`.
        """
        now = self._now()
        return sum(
            self._accepted(one, user)
            for schedule, user in self._schedules()
            for one in due(schedule, now)
        )

    def _schedules(self) -> Iterator[tuple[Schedule, str]]:
        """Yield each with who wants it: nobody for those of hosts.toml, which tell of every host."""
        yield from ((one, "") for one in self._settings.summaries)
        yield from ((one.schedule, one.user) for one in self._store.schedules.all())

    def _accepted(self, due: Due, user: str) -> bool:
        if self._store.runs.by_key(due.key) is not None:
            return False
        schedule = due.schedule
        run = self._store.runs.add(
            due.key,
            "sweep",
            channel=schedule.channel,
            thread="",
            user=user,
            text=schedule.shown(),
            message=self._order(due, user).model_dump_json(),
        )
        if run is None:
            return False  # another replica was first
        _LOG.info("the summary of %s for %s is due", due.date, schedule.channel)
        self._enqueue(run)
        return True

    def _order(self, due: Due, user: str) -> Order:
        groups = due.schedule.groups
        hosts = self._settings.of_groups(groups)
        if user:
            asker = Asker(user, due.schedule.channel)
            hosts = tuple(host for host in hosts if self._access.refusal(asker, host) is None)
        return Order(date=due.date, hosts=hosts, whom=", ".join(groups), daily=True)
