"""The watches: what is to be told once if it happens again, and when it is looked for next."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, delete, select, update

from bot.store.database import Database, plain
from bot.store.health_tables import watches

EVERY_S = 15 * 60.0
WATCHED_S = 30 * 24 * 3600.0  # then it has not happened, and that is said
_LEASE_S = 120.0  # how long a look may take before another process looks


@dataclass(frozen=True)
class Watch:
    """One condition on one host, for one thread. `gone`: it was seen to be gone since the watch began."""

    id: int
    host: str
    cause: str
    channel: str
    thread: str
    user: str
    until: float
    gone: bool


_FIELDS = tuple(field.name for field in dataclasses.fields(Watch))
_COLUMNS = tuple(watches.c[name] for name in _FIELDS)


class Watches:
    """Each look is claimed, so that of many processes one looks."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, host: str, cause: str, channel: str, thread: str, user: str) -> bool:
        """Begin to watch. False: that is watched for this thread already."""
        now = self._database.now()
        row = {
            "host": host, "host_key": host.lower(), "cause": cause, "channel": channel,
            "thread": thread, "user": user, "every_s": EVERY_S, "made_at": now,
            "until": now + WATCHED_S, "next_at": now + EVERY_S, "gone": False,
        }  # fmt: skip
        with self._database.writing() as connection:
            self._database.hold(f"watch:{channel}:{thread}")
            if any(
                (one.host.lower(), one.cause) == (host.lower(), cause)
                for one in self.of_thread(channel, thread)
            ):
                return False
            connection.execute(watches.insert().values(row))
            return True

    def of_thread(self, channel: str, thread: str) -> list[Watch]:
        """Return what is watched for a thread."""
        return self._all(
            select(*_COLUMNS).where(
                watches.c.channel == channel,
                watches.c.thread == thread,
                watches.c.ended_at.is_(None),
            )
        )

    def claim(self, count: int) -> list[Watch]:
        """Take up to so many that are due; nobody else gets them for two minutes."""
        now = self._database.now()
        ripe = (
            select(*_COLUMNS)
            .where(watches.c.ended_at.is_(None), watches.c.next_at <= now)
            .order_by(watches.c.next_at)
            .limit(count)
            .with_for_update(skip_locked=True)
        )
        with self._database.writing() as connection:
            found = [_watch(row) for row in connection.execute(ripe)]
            held = update(watches).where(watches.c.id.in_([one.id for one in found]))
            connection.execute(held.values(next_at=now + _LEASE_S))
            return found

    def looked(self, id: int, *, gone: bool) -> None:
        """Look again in a while; `gone` says that the condition is not there now."""
        values: dict[str, Any] = {"next_at": self._database.now() + EVERY_S}
        self._open(id, **(values | {"gone": True} if gone else values))

    def end(self, id: int, outcome: str) -> bool:
        """End it. False: it had ended already."""
        return self._open(id, ended_at=self._database.now(), outcome=plain(outcome)[:500])

    def forget(self, older_than_s: float) -> int:
        """Remove what ended so long ago, and return how many."""
        old = delete(watches).where(watches.c.ended_at <= self._database.now() - older_than_s)
        with self._database.writing() as connection:
            return connection.execute(old).rowcount

    def _open(self, id: int, **values: Any) -> bool:
        change = update(watches).where(watches.c.id == id, watches.c.ended_at.is_(None))
        with self._database.writing() as connection:
            return connection.execute(change.values(values)).rowcount > 0

    def _all(self, query: Select[Any]) -> list[Watch]:
        with self._database.reading() as connection:
            return [_watch(row) for row in connection.execute(query.order_by(watches.c.id))]


def _watch(row: Any) -> Watch:
    return Watch(**{name: getattr(row, name) for name in _FIELDS})
