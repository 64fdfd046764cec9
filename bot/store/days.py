"""The days of each host, one look a day: what a morning is held against."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError
from sqlalchemy import delete, select

from bot.health.looked import Looked
from bot.store.database import Database
from bot.store.health_tables import health_days


class Days:
    """A date is local to who reads the summary. Of several looks on one date the last one stays."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, date: str, looked: Looked) -> None:
        """Keep the look of a day."""
        row = {
            "host_key": looked.host.lower(),
            "date": date,
            "body": looked.model_dump_json(exclude_defaults=True),
            "at": self._database.now(),
        }
        insert = self._database.insert(health_days).values(row)
        new = {name: insert.excluded[name] for name in ("body", "at")}
        with self._database.writing() as connection:
            connection.execute(
                insert.on_conflict_do_update(index_elements=["host_key", "date"], set_=new)
            )

    def before(
        self, hosts: Sequence[str], date: str, days: int
    ) -> dict[str, list[tuple[str, Looked]]]:
        """Return of each host the last so many days before a date, oldest first."""
        return {host: self._of(host, date, days) for host in hosts}

    def _of(self, host: str, date: str, days: int) -> list[tuple[str, Looked]]:
        query = (
            select(health_days.c.date, health_days.c.body)
            .where(health_days.c.host_key == host.lower(), health_days.c.date < date)
            .order_by(health_days.c.date.desc())
            .limit(days)
        )
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
        found = []
        for row in reversed(rows):
            try:
                found.append((row.date, Looked.model_validate_json(row.body)))
            except ValidationError:
                continue  # of another version: a day that is not known
        return found

    def forget(self, older_than_s: float) -> int:
        """Remove what is older, and return how many."""
        old = delete(health_days).where(health_days.c.at <= self._database.now() - older_than_s)
        with self._database.writing() as connection:
            return connection.execute(old).rowcount
