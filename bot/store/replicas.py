"""The replicas: each beats, and what one that fell silent was holding is let go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, select, update

from bot.store.database import Database
from bot.store.growth_tables import places, replicas
from bot.store.health_tables import sweep_hosts
from bot.store.schema import letters


@dataclass(frozen=True)
class Beat:
    """The last sign of life of a replica. `works` is the kind of work that it takes up.

    `ago_s` is how old it was by the database's clock when it was read; the same beat stays the same.
    """

    executor: str
    opening: str
    beats: int
    works: str
    ago_s: float = field(default=0.0, compare=False)


class Replicas:
    """Who lives. No clock of one replica is compared with that of another: the database has one for all."""

    def __init__(self, database: Database, executor: str | None) -> None:
        self._database = database
        self._executor = executor or ""

    def beat(self, works: str) -> bool:
        """Say that we live. True: no row of this process was there, as before its first beat.

        Then what an earlier process of our name held is free: it is dead, for one alone can live.
        """
        mine, now = self._database.opening, self._database.clock()
        row = {
            "executor": self._executor,
            "opening": mine,
            "beats": 1,
            "works": works,
            "at": now,
        }
        insert = self._database.insert(replicas).values(row)
        new = {name: insert.excluded[name] for name in ("opening", "beats", "works", "at")}
        with self._database.writing() as connection:
            known = connection.execute(
                update(replicas)
                .where(replicas.c.executor == self._executor, replicas.c.opening == mine)
                .values(beats=replicas.c.beats + 1, works=works, at=now)
            )
            if known.rowcount:
                return False
            connection.execute(insert.on_conflict_do_update(index_elements=["executor"], set_=new))
            _free(connection, lambda of: and_(of.executor == self._executor, of.opening != mine))
            return True

    def others(self) -> list[Beat]:
        """Return the last beat of each other replica."""
        query = select(
            replicas.c.executor,
            replicas.c.opening,
            replicas.c.beats,
            replicas.c.works,
            self._database.clock() - replicas.c.at,
        ).where(replicas.c.executor != self._executor)
        with self._database.reading() as connection:
            return [Beat(*row) for row in connection.execute(query.order_by(replicas.c.executor))]

    def let_go(self, last: Beat) -> bool:
        """Free what a silent process holds: letters, hosts of sweeps, places. False: it has beaten.

        What it was doing may have been done: a letter is looked for in its thread before it is sent
        once more.
        """
        with self._database.writing() as connection:
            still = select(replicas.c.executor).where(*_is(last)).with_for_update()
            if connection.execute(still).first() is None:
                return False
            _free(connection, lambda of: of.opening == last.opening)
            return True

    def forget(self, last: Beat) -> None:
        """Strike it off, once all that it did is taken over; one that beats again stays."""
        with self._database.writing() as connection:
            connection.execute(delete(replicas).where(*_is(last)))


def _free(connection: Connection, whose: Callable[[Any], ColumnElement[bool]]) -> None:
    for table in (letters, sweep_hosts):
        held = and_(whose(table.c), table.c.claimed_at.is_not(None))
        connection.execute(update(table).where(held).values(claimed_at=0.0))
    connection.execute(delete(places).where(whose(places.c)))


def _is(last: Beat) -> tuple[ColumnElement[bool], ...]:
    return (
        replicas.c.executor == last.executor,
        replicas.c.opening == last.opening,
        replicas.c.beats == last.beats,
    )
