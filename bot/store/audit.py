"""The audit: who did what, where, and how it ended; only ever added to."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from bot.store.database import Database, plain
from bot.store.schema import audit


@dataclass(frozen=True)
class Act:
    """One act. `outcome` is done, refused, or what became of it; `at` is seconds since the epoch."""

    at: float
    user: str
    channel: str
    act: str
    what: str
    outcome: str
    host: str | None


class Audit:
    """What a person may be asked about later. Nothing here is ever changed or tidied away."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(
        self,
        user: str,
        channel: str,
        act: str,
        what: str,
        outcome: str,
        host: str | None = None,
    ) -> None:
        """Write one act down. `what` is cut at 2,000 characters."""
        row = {
            "at": self._database.now(),
            "user": user,
            "channel": channel,
            "act": act,
            "what": plain(what)[:2000],
            "outcome": plain(outcome)[:2000],
            "host": plain(host) if host is not None else None,
        }
        with self._database.writing() as connection:
            connection.execute(audit.insert().values(row))

    def newest(self, limit: int = 100) -> list[Act]:
        """Return the newest acts, newest first."""
        query = select(audit).order_by(audit.c.id.desc()).limit(limit)
        with self._database.reading() as connection:
            return [
                Act(row.at, row.user, row.channel, row.act, row.what, row.outcome, row.host)
                for row in connection.execute(query)
            ]
