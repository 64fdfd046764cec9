"""The opinions: whether a verdict was right, as the people it was given to say."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from bot.store.database import Database, plain
from bot.store.schema import opinions


@dataclass(frozen=True)
class Opinion:
    """What one person says of one verdict. `at` is seconds since the epoch."""

    run: int
    user: str
    right: bool
    reason: str
    at: float


class Opinions:
    """Kept for evaluation. A person has one opinion of a run, the newest."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, run_id: int, user: str, right: bool, reason: str = "") -> None:  # noqa: FBT001 - it is the opinion itself
        """Keep it in the place of an earlier one of the same person."""
        row = {
            "run": run_id,
            "user": user,
            "right": right,
            "reason": plain(reason),
            "at": self._database.now(),
        }
        insert = self._database.insert(opinions).values(row)
        new = {name: insert.excluded[name] for name in ("right", "reason", "at")}
        with self._database.writing() as connection:
            connection.execute(
                insert.on_conflict_do_update(index_elements=["run", "user"], set_=new)
            )

    def of(self, run_id: int) -> list[Opinion]:
        """Return all of a run, oldest first."""
        query = select(opinions).where(opinions.c.run == run_id).order_by(opinions.c.at)
        with self._database.reading() as connection:
            return [
                Opinion(row.run, row.user, bool(row.right), row.reason, row.at)
                for row in connection.execute(query)
            ]
