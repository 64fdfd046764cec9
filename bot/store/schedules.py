"""The schedules that people set in Slack: one for each channel and set of hosts."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError
from sqlalchemy import delete, select

from bot.settings.schedule import Schedule
from bot.store.database import Database
from bot.store.health_tables import schedules


@dataclass(frozen=True)
class Kept:
    """A schedule with its number, by which people name it, and who wants it."""

    id: int
    schedule: Schedule
    user: str


class Schedules:
    """Those of hosts.toml are not here."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, schedule: Schedule, user: str) -> None:
        """Keep it in the place of an earlier one for the same hosts in the same channel."""
        row = {
            "channel": schedule.channel,
            "name": schedule.name,
            "body": schedule.model_dump_json(),
            "user": user,
            "at": self._database.now(),
        }
        insert = self._database.insert(schedules).values(row)
        new = {name: insert.excluded[name] for name in ("body", "user", "at")}
        with self._database.writing() as connection:
            connection.execute(
                insert.on_conflict_do_update(index_elements=["channel", "name"], set_=new)
            )

    def all(self, channel: str | None = None) -> list[Kept]:
        """Return them by number, of one channel or of all; one that cannot be read is left out."""
        query = select(schedules).order_by(schedules.c.id)
        if channel is not None:
            query = query.where(schedules.c.channel == channel)
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
        found = []
        for row in rows:
            try:
                schedule = Schedule.model_validate_json(row.body)
            except ValidationError:
                continue  # a newer version wrote it, and that one tells it
            found.append(Kept(row.id, schedule, row.user))
        return found

    def remove(self, id: int, channel: str) -> bool:
        """Take one away from a channel. False: there is none of that number."""
        gone = delete(schedules).where(schedules.c.id == id, schedules.c.channel == channel)
        with self._database.writing() as connection:
            return connection.execute(gone).rowcount > 0
