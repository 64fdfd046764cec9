"""The ledger: what all models together took on each day, in tokens and money."""

from __future__ import annotations

from bot.store.database import Database
from bot.store.schema import spending


class Ledger:
    """The sums of each day, shared by all who use the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, day: str, tokens: int, usd: float) -> tuple[int, float]:
        """Add to the day (negative: give back) and return its sums after that, in one statement."""
        insert = self._database.insert(spending).values(day=day, tokens=tokens, usd=usd)
        more = {
            "tokens": spending.c.tokens + insert.excluded.tokens,
            "usd": spending.c.usd + insert.excluded.usd,
        }
        adds = insert.on_conflict_do_update(index_elements=["day"], set_=more)
        with self._database.writing() as connection:
            row = connection.execute(adds.returning(spending.c.tokens, spending.c.usd)).one()
        return int(row.tokens), float(row.usd)
