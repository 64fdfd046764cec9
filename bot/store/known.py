"""What somebody has said they know of: it does not come up again for a while."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import delete, select

from bot.store.database import Database, plain
from bot.store.health_tables import acknowledgements

KNOWN_S = 30 * 24 * 3600.0  # then it is told once more: nobody remembers it longer


class Acknowledgements:
    """By host, and by the name of what is known there: a cause, a figure, or a state."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, host: str, names: Collection[str], user: str) -> float:
        """Keep it; return until when it holds, in seconds since the epoch."""
        now = self._database.now()
        with self._database.writing() as connection:
            for name in sorted(names):
                row = {
                    "host_key": host.lower(),
                    "name": plain(name),
                    "user": user,
                    "at": now,
                    "until": now + KNOWN_S,
                }
                new = self._database.insert(acknowledgements).values(row)
                changed = {key: new.excluded[key] for key in ("user", "at", "until")}
                connection.execute(
                    new.on_conflict_do_update(index_elements=["host_key", "name"], set_=changed)
                )
        return now + KNOWN_S

    def of(self, host: str) -> frozenset[str]:
        """Return the names of what is known on a host now."""
        query = select(acknowledgements.c.name).where(
            acknowledgements.c.host_key == host.lower(),
            acknowledgements.c.until > self._database.now(),
        )
        with self._database.reading() as connection:
            return frozenset(connection.execute(query).scalars())

    def forget(self, older_than_s: float) -> int:
        """Remove what has not held for so long, and return how many."""
        until = self._database.now() - older_than_s
        old = delete(acknowledgements).where(acknowledgements.c.until <= until)
        with self._database.writing() as connection:
            return connection.execute(old).rowcount
