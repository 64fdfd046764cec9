"""Places of which there are few, over all replicas: each is held for a while, and renewed by who lives."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, and_, delete, func, insert, not_, select, update

from bot.store.database import Database
from bot.store.growth_tables import places

LEASE_S = 60.0  # renewed with each beat; a process that died over it gives it back this late


class Places:
    """Who goes through what has room for few. `executor` names this replica, as in Letters."""

    def __init__(self, database: Database, executor: str | None) -> None:
        self._database, self._executor = database, executor

    def take(self, key: str, room: int) -> int | None:
        """Take a place and return its number; None where all `room` places are held."""
        now = self._database.now()
        with self._database.writing() as connection:
            self._database.hold(f"place {key}")
            connection.execute(delete(places).where(places.c.key == key, not_(self._held())))
            held = select(func.count()).select_from(places).where(places.c.key == key)
            if connection.execute(held).scalar_one() >= room:
                return None
            row = {
                "key": key,
                "executor": self._executor,
                "opening": self._database.opening,
                "until": now + LEASE_S,
            }
            got = connection.execute(insert(places).values(row).returning(places.c.id))
            return int(got.scalar_one())

    def give_back(self, number: int) -> None:
        """Let another have it."""
        with self._database.writing() as connection:
            connection.execute(delete(places).where(places.c.id == number))

    def renew(self) -> None:
        """Hold all places of this process for longer."""
        until = self._database.now() + LEASE_S
        mine = places.c.opening == self._database.opening
        with self._database.writing() as connection:
            connection.execute(update(places).where(mine).values(until=until))

    def held(self, key: str) -> int:
        """Count the places that are held."""
        query = select(func.count()).select_from(places).where(places.c.key == key, self._held())
        with self._database.reading() as connection:
            return int(connection.execute(query).scalar_one())

    def _held(self) -> ColumnElement[bool]:
        of: Any = places.c
        other: ColumnElement[bool] = of.opening != self._database.opening
        if self._database.sqlite:  # one bot alone uses it: another opening is one that died
            return not_(other)
        ours = and_(of.executor == self._executor, other)
        return and_(of.until > self._database.now(), not_(func.coalesce(ours, False)))
