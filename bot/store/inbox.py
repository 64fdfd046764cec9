"""The inbox: what came in, each once, written down before it is acknowledged."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, select, update

from bot.store.database import Database
from bot.store.schema import inbox

_WRITTEN = ("message", "ask")  # kinds that a thread answers with a word or a trail


@dataclass(frozen=True)
class Incoming:
    """One event or action. `id` is unique for ever; `at` is when it came, seconds since the epoch."""

    id: str
    kind: str
    body: dict[str, Any]
    at: float


class Inbox:
    """Decides what is new. Times are seconds since the epoch."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def receive(self, id: str, kind: str, body: dict[str, Any]) -> bool:
        """Keep it. False: it was here already."""
        row = {"id": id, "kind": kind, "body": json.dumps(body), "at": self._database.now()}
        with self._database.writing() as connection:
            return self._database.adds(connection, inbox, row)

    def handled(self, id: str) -> None:
        """Note that everything it asks for is done, or is in the store as work."""
        with self._database.writing() as connection:
            connection.execute(
                update(inbox)
                .where(inbox.c.id == id, inbox.c.handled_at.is_(None))
                .values(handled_at=self._database.now())
            )

    def unhandled(self, older_than_s: float = 0) -> list[Incoming]:
        """Return what was kept and not handled, oldest first."""
        until = self._database.now() - older_than_s
        query = (
            select(inbox.c.id, inbox.c.kind, inbox.c.body, inbox.c.at)
            .where(inbox.c.handled_at.is_(None), inbox.c.at <= until)
            .order_by(inbox.c.number)
        )
        with self._database.reading() as connection:
            return [
                Incoming(row.id, row.kind, json.loads(row.body), row.at)
                for row in connection.execute(query)
            ]

    def owed_since(self, at: float) -> bool:
        """Say whether somebody wrote since then, and what becomes of it is not decided yet."""
        query = select(inbox.c.number).where(
            inbox.c.handled_at.is_(None), inbox.c.at >= at, inbox.c.kind.in_(_WRITTEN)
        )
        with self._database.reading() as connection:
            return connection.execute(query.limit(1)).first() is not None

    def owes(self, channel: str, thread: str, before: str | None = None) -> bool:
        """Say whether a message in a thread is not handled yet, of those that came before one of this id."""
        query = select(inbox.c.number).where(
            inbox.c.handled_at.is_(None),
            inbox.c.kind == "message",
            inbox.c.body.contains(_says("channel", channel), autoescape=True),
            inbox.c.body.contains(_says("thread", thread), autoescape=True),
        )
        if before is not None:
            one = select(inbox.c.number).where(inbox.c.id == before).scalar_subquery()
            query = query.where(inbox.c.number < one)
        with self._database.reading() as connection:
            return connection.execute(query.limit(1)).first() is not None

    def forget(self, older_than_s: float) -> int:
        """Remove what was handled so long ago, and return how many; a repeat of it would be new again."""
        until = self._database.now() - older_than_s
        with self._database.writing() as connection:
            return connection.execute(delete(inbox).where(inbox.c.handled_at <= until)).rowcount


def _says(name: str, value: str) -> str:
    """Return what a body holds where a field has a value: within a text its quotes would be escaped."""
    return json.dumps({name: value})[1:-1]
