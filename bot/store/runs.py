"""The runs: accepted work from the question to its end, each claimed by one atomic statement."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, func, or_, select, update

from bot.store.database import Database, plain
from bot.store.run import ENDED, Run, RunKind, RunState
from bot.store.schema import cases, runs

_FIELDS = tuple(field.name for field in dataclasses.fields(Run))
_COLUMNS = tuple(runs.c[name] for name in _FIELDS)
_OPEN = ("waiting", "joined", "running")


class Runs:
    """Who asked what, and how far it is. Times are seconds since the epoch, hosts have no case."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        key: str,
        kind: RunKind,
        *,
        host: str | None = None,
        port: int | None = None,
        channel: str,
        thread: str,
        user: str,
        text: str = "",
        message: str = "",
        joins: int | None = None,
        about: int | None = None,
        state: RunState = "waiting",
        category: str | None = None,
        headline: str | None = None,
    ) -> Run | None:
        """Accept work. None: the key is there already."""
        row: dict[str, Any] = {
            "key": key,
            "kind": kind,
            "state": state,
            "host": host,
            "host_key": host.lower() if host is not None else None,
            "port": port,
            "channel": channel,
            "thread": thread,
            "user": user,
            "text": plain(text),
            "message": plain(message),
            "asked_at": self._database.now(),
            "ended_at": self._database.now() if state in ENDED else None,
            "joins": joins,
            "about": about,
            "category": category,
            "headline": plain(headline) if headline is not None else None,
        }
        with self._database.writing() as connection:
            new = self._database.adds(connection, runs, row)
            found = connection.execute(select(*_COLUMNS).where(runs.c.key == key)).one()
            return _run(found) if new else None

    def get(self, id: int) -> Run | None:
        """Return the run of that number."""
        return self._one(select(*_COLUMNS).where(runs.c.id == id))

    def by_key(self, key: str) -> Run | None:
        """Return the run of that key."""
        return self._one(select(*_COLUMNS).where(runs.c.key == key))

    def open_on(self, host: str) -> Run | None:
        """Return the investigation of that host that waits or runs, and does not join another.

        Inside `together` nobody else can decide on the same host until it ends, on PostgreSQL too.
        """
        self._database.hold(host.lower())
        return self._one(
            select(*_COLUMNS)
            .where(
                runs.c.host_key == host.lower(),
                runs.c.kind == "host",
                runs.c.state.in_(("waiting", "running")),
            )
            .order_by(runs.c.id)
            .limit(1)
        )

    def open(self) -> list[Run]:
        """Return what waits, joins or runs, oldest first."""
        return self._all(select(*_COLUMNS).where(runs.c.state.in_(_OPEN)))

    def begin(self, id: int) -> Run | None:
        """Take it up, or take it up again after a restart. None: it has ended, or joins another."""
        now = self._database.now()
        with self._database.writing() as connection:
            first = connection.execute(
                update(runs)
                .where(runs.c.id == id, runs.c.state == "waiting")
                .values(state="running", began_at=func.coalesce(runs.c.began_at, now))
            )
            if not first.rowcount:
                again = connection.execute(
                    update(runs)
                    .where(runs.c.id == id, runs.c.state == "running")
                    .values(restarts=runs.c.restarts + 1)
                )
                if not again.rowcount:
                    return None
            return _run(connection.execute(select(*_COLUMNS).where(runs.c.id == id)).one())

    def end(
        self,
        id: int,
        state: RunState,
        *,
        category: str | None = None,
        headline: str | None = None,
    ) -> bool:
        """End it. False: it had ended already, or there is none."""
        values = {
            "state": state,
            "ended_at": self._database.now(),
            "category": category,
            "headline": plain(headline) if headline is not None else None,
        }
        return self._changed(runs.c.id == id, runs.c.state.in_(_OPEN), **values)

    def place(self, id: int, thread: str) -> bool:
        """Say in which thread it is talked about. False: that is known, or there is none of it."""
        return self._changed(runs.c.id == id, runs.c.thread == "", thread=thread)

    def joined_to(self, id: int) -> list[Run]:
        """Return those that still wait for the looks of this one, oldest first."""
        return self._all(select(*_COLUMNS).where(runs.c.joins == id, runs.c.state == "joined"))

    def rejoin(self, id: int, to: int | None) -> bool:
        """Let a joined run wait for another one, or for its own turn. False: it joins nothing now."""
        state = "waiting" if to is None else "joined"
        return self._changed(runs.c.id == id, runs.c.state == "joined", state=state, joins=to)

    def ask_stop(self, id: int, user: str) -> bool:
        """Ask for its end. False: it has ended, or somebody asked before."""
        return self._changed(
            runs.c.id == id, runs.c.state.in_(_OPEN), runs.c.stop_by.is_(None), stop_by=user
        )

    def stop_asked(self, ids: Sequence[int]) -> dict[int, str]:
        """Return, of these, the runs that are to stop, and who said so."""
        if not ids:
            return {}
        query = select(runs.c.id, runs.c.stop_by).where(
            runs.c.id.in_(ids), runs.c.stop_by.is_not(None)
        )
        with self._database.reading() as connection:
            return {row.id: row.stop_by for row in connection.execute(query)}

    def in_thread(self, channel: str, thread: str) -> list[Run]:
        """Return everything that was asked in a thread, oldest first."""
        return self._all(
            select(*_COLUMNS).where(runs.c.channel == channel, runs.c.thread == thread)
        )

    def last_of(self, host: str) -> Run | None:
        """Return the newest ended investigation of a host of which the looks are kept."""
        return self._one(
            select(*_COLUMNS)
            .join(cases, cases.c.run == runs.c.id)
            .where(runs.c.host_key == host.lower(), runs.c.kind == "host", runs.c.state.in_(ENDED))
            .order_by(runs.c.id.desc())
            .limit(1)
        )

    def count_open(self, user: str | None = None, channel: str | None = None) -> int:
        """Count the investigations that wait or run: of all, of one person, of one channel."""
        wanted: list[ColumnElement[bool]] = [
            runs.c.kind == "host",
            runs.c.state.in_(("waiting", "running")),
        ]
        wanted += [runs.c.user == user] if user is not None else []
        wanted += [runs.c.channel == channel] if channel is not None else []
        return self._count(*wanted)

    def count_since(self, user: str, since: float) -> int:
        """Count what a person has asked for since then."""
        return self._count(runs.c.user == user, runs.c.asked_at >= since)

    def recent_threads(self, since: float) -> list[tuple[str, str]]:
        """Return (channel, thread) with work since then or still open, the longest known first."""
        query = (
            select(runs.c.channel, runs.c.thread)
            .where(or_(runs.c.asked_at >= since, runs.c.state.in_(_OPEN)), runs.c.thread != "")
            .group_by(runs.c.channel, runs.c.thread)
            .order_by(func.min(runs.c.id))
        )
        with self._database.reading() as connection:
            return [(row.channel, row.thread) for row in connection.execute(query)]

    def _one(self, query: Select[Any]) -> Run | None:
        with self._database.reading() as connection:
            found = connection.execute(query).first()
            return _run(found) if found is not None else None

    def _all(self, query: Select[Any]) -> list[Run]:
        with self._database.reading() as connection:
            return [_run(row) for row in connection.execute(query.order_by(runs.c.id))]

    def _changed(self, *where: ColumnElement[bool], **values: Any) -> bool:
        with self._database.writing() as connection:
            return connection.execute(update(runs).where(*where).values(values)).rowcount > 0

    def _count(self, *where: ColumnElement[bool]) -> int:
        with self._database.reading() as connection:
            query = select(func.count()).select_from(runs).where(*where)
            return int(connection.execute(query).scalar_one())


def _run(row: Row[Any]) -> Run:
    return Run(**{name: getattr(row, name) for name in _FIELDS})
