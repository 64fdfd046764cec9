"""What was heard last in each channel, so that what was missed meanwhile can be found."""

from __future__ import annotations

from sqlalchemy import select

from bot.store.database import Database
from bot.store.schema import heard


class Heard:
    """The newest message id (`ts`, which sorts by time) seen in each channel."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, channel: str, ts: str) -> None:
        """Note a message; an older one than the newest changes nothing."""
        row = {"channel": channel, "ts": ts, "at": self._database.now()}
        insert = self._database.insert(heard).values(row)
        new = {"ts": insert.excluded.ts, "at": insert.excluded.at}
        with self._database.writing() as connection:
            connection.execute(
                insert.on_conflict_do_update(
                    index_elements=["channel"], set_=new, where=heard.c.ts < insert.excluded.ts
                )
            )

    def all(self) -> dict[str, str]:
        """Return the newest id by channel."""
        with self._database.reading() as connection:
            query = select(heard.c.channel, heard.c.ts)
            return {row.channel: row.ts for row in connection.execute(query)}
