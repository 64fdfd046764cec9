"""The sweeps, host by host: several processes share one, and none is looked at twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, func, insert, or_, select, update

from bot.health.looked import Looked
from bot.store.database import Database
from bot.store.days import Days
from bot.store.health_tables import sweep_hosts, sweeps

LEASE_S = 60.0  # a look is given up after 45 s (bot/health/sweep): who holds one longer is dead


class Sweeps:
    """Who looks at which host. `executor` names this replica, of which only one process can live.

    What a dead process of the same replica had claimed is free at once; what another replica has
    claimed is free when its lease has run out.
    """

    def __init__(self, database: Database, executor: str | None, days: Days) -> None:
        self._database, self._executor, self._days = database, executor, days

    def open(self, run: int, date: str, hosts: Sequence[str], *, daily: bool) -> None:
        """Write down what is to be looked at; a second time changes nothing.

        The looks of a `daily` one are kept as the days of their hosts.
        """
        row = {"run": run, "date": date, "daily": daily, "made_at": self._database.now()}
        with self._database.writing() as connection:
            if not self._database.adds(connection, sweeps, row) or not hosts:
                return
            rows = [
                {"run": run, "place": place, "host": host, "state": "waiting", "takes": 0}
                for place, host in enumerate(hosts)
            ]
            connection.execute(insert(sweep_hosts), rows)

    def opened(self) -> list[int]:
        """Return the runs of sweeps in which some host waits, or is being looked at; oldest first."""
        query = select(sweeps.c.run).where(sweeps.c.done_at.is_(None)).order_by(sweeps.c.run)
        with self._database.reading() as connection:
            return list(connection.execute(query).scalars())

    def claim(self, run: int, count: int) -> list[str]:
        """Take up to so many hosts that nobody looks at; whoever asks at the same time gets others."""
        if count <= 0:
            return []
        free = (
            select(sweep_hosts.c.place, sweep_hosts.c.host)
            .where(sweep_hosts.c.run == run, self._free())
            .order_by(sweep_hosts.c.place)
            .limit(count)
            .with_for_update(skip_locked=True)  # PostgreSQL; on SQLite one writes at a time
        )
        with self._database.writing() as connection:
            found = connection.execute(free).all()
            connection.execute(
                update(sweep_hosts)
                .where(sweep_hosts.c.run == run)
                .where(sweep_hosts.c.place.in_([row.place for row in found]))
                .values(
                    state="looking",
                    executor=self._executor,
                    opening=self._database.opening,
                    claimed_at=self._database.now(),
                    takes=sweep_hosts.c.takes + 1,
                )
            )
            return [row.host for row in found]

    def done(self, run: int, looked: Looked) -> bool:
        """Keep what was seen of a host. False: another process was first, and its look stands."""
        with self._database.writing() as connection:
            kept = connection.execute(
                update(sweep_hosts)
                .where(
                    sweep_hosts.c.run == run,
                    sweep_hosts.c.host == looked.host,
                    sweep_hosts.c.state != "done",
                )
                .values(state="done", body=looked.model_dump_json(exclude_defaults=True))
            )
            if not kept.rowcount:
                return False
            kind = select(sweeps.c.date, sweeps.c.daily).where(sweeps.c.run == run)
            date, daily = connection.execute(kind).one()
            if daily:
                self._days.put(date, looked)
            return True

    def left(self, run: int) -> int:
        """Count the hosts that wait or are being looked at; at none the sweep is closed to helpers."""
        query = (
            select(func.count())
            .select_from(sweep_hosts)
            .where(sweep_hosts.c.run == run, sweep_hosts.c.state != "done")
        )
        with self._database.writing() as connection:
            left = int(connection.execute(query).scalar_one())
            if not left:
                over = update(sweeps).where(sweeps.c.run == run, sweeps.c.done_at.is_(None))
                connection.execute(over.values(done_at=self._database.now()))
            return left

    def looks(self, run: int) -> tuple[str, list[Looked]]:
        """Return the date of a sweep, and what was seen, host by host as they were given."""
        query = (
            select(sweep_hosts.c.body)
            .where(sweep_hosts.c.run == run, sweep_hosts.c.body.is_not(None))
            .order_by(sweep_hosts.c.place)
        )
        with self._database.reading() as connection:
            date = connection.execute(select(sweeps.c.date).where(sweeps.c.run == run)).scalar()
            bodies = connection.execute(query).scalars()
            return str(date or ""), [Looked.model_validate_json(body) for body in bodies]

    def takes(self, run: int) -> dict[str, int]:
        """Return how often each host was taken up: more than once where somebody died over it."""
        query = select(sweep_hosts.c.host, sweep_hosts.c.takes).where(sweep_hosts.c.run == run)
        with self._database.reading() as connection:
            return {row.host: row.takes for row in connection.execute(query)}

    def forget(self, older_than_s: float) -> int:
        """Remove sweeps that were done so long ago; their days stay. Return how many hosts."""
        until = self._database.now() - older_than_s
        old = select(sweeps.c.run).where(sweeps.c.done_at <= until)
        with self._database.writing() as connection:
            gone = connection.execute(delete(sweep_hosts).where(sweep_hosts.c.run.in_(old)))
            connection.execute(delete(sweeps).where(sweeps.c.done_at <= until))
            return gone.rowcount

    def _free(self) -> ColumnElement[bool]:
        of: Any = sweep_hosts.c
        late = of.claimed_at <= self._database.now() - LEASE_S
        ours = and_(of.executor == self._executor, of.opening != self._database.opening)
        left_over = or_(late, func.coalesce(ours, False)) if self._executor else late
        return or_(of.state == "waiting", and_(of.state == "looking", left_over))
