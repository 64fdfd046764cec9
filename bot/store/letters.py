"""The outbox: letters that wait, are being sent, or were sent; none is lost and none forgotten."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from sqlalchemy import ColumnElement, Row, and_, func, not_, or_, select, true, update

from bot.letter import Letter
from bot.store.database import Database, plain
from bot.store.schema import letters

LEASE_S = 60  # how long another replica may be at one letter before it counts as dead
_OPEN = ("due", "sending")
_LOG = logging.getLogger("perfsleuth.store")


@dataclass(frozen=True)
class Due:
    """A letter to deliver. `tries` counts earlier ones; `ts` is set where it was sent before.

    `uncertain`: an earlier try may have reached the thread, so look there first.
    """

    letter: Letter
    tries: int
    uncertain: bool
    ts: str | None = None


class Letters:
    """The outbox. `executor` is the name of this replica, of which only one process can live.

    What a dead process of the same replica was sending is due at once; what another replica is
    sending is due when its lease has run out. Without a name every process counts as another one,
    except on SQLite, which one bot alone uses.
    """

    def __init__(self, database: Database, executor: str | None) -> None:
        self._database = database
        self._executor = executor

    def add(self, letter: Letter) -> bool:
        """Keep it until it is delivered. False: the key is known already."""
        now = self._database.now()
        row = {
            "key": letter.key,
            "channel": letter.channel,
            "thread": letter.thread or "",
            "run": letter.run,
            "body": letter.model_dump_json(),
            "status": "due",
            "due_at": now,
            "added_at": now,
        }
        with self._database.writing() as connection:
            return self._database.adds(connection, letters, row)

    def due(self, limit: int = 100) -> list[Due]:
        """Return what is to be delivered now, oldest first.

        A letter never overtakes one of its thread that must wait: those behind it wait as well.
        Letters that this process has claimed and not given back are left out.
        """
        earlier = letters.alias()
        in_the_way = and_(
            earlier.c.channel == letters.c.channel,
            earlier.c.thread == letters.c.thread,
            earlier.c.id < letters.c.id,
            or_(
                and_(earlier.c.status == "due", earlier.c.due_at > self._database.now()),
                and_(
                    earlier.c.status == "sending",
                    earlier.c.opening != self._database.opening,
                    not_(self._left_over(earlier.c)),
                ),
            ),
        )
        query = (
            select(letters)
            .where(self._deliverable())
            .where(~select(earlier.c.id).where(in_the_way).exists())
            .order_by(letters.c.id)
            .limit(limit)
        )
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
        return [due for row in rows if (due := self._due(row)) is not None]

    def sending(self, key: str, after: int | None = None) -> bool:
        """Claim it for one try. False: it was sent, or another process is at it.

        Nor is it given to who knows of `after` tries alone where there was another one since: that
        one may have reached the thread, which must be looked into first.
        """
        known = letters.c.tries == after if after is not None else true()
        with self._database.writing() as connection:
            claimed = connection.execute(
                update(letters)
                .where(letters.c.key == key, self._deliverable(), known)
                .values(
                    # What was left in "sending" may have arrived, and stays so until it is sent.
                    uncertain=or_(letters.c.uncertain, letters.c.status == "sending"),
                    status="sending",
                    tries=letters.c.tries + 1,
                    executor=self._executor,
                    opening=self._database.opening,
                    claimed_at=self._database.now(),
                )
            )
            return claimed.rowcount > 0

    def sent(self, key: str, ts: str | None) -> None:
        """Note that it has arrived, and the platform's id of it; None for what has no id."""
        self._set(key, status="sent", ts=ts, uncertain=False, ended_at=self._database.now())

    def later(self, key: str, at: float, *, uncertain: bool = False) -> None:
        """Try again from then on; `uncertain` where this try may have arrived all the same."""
        doubt = letters.c.uncertain if not uncertain else True
        self._set(key, status="due", due_at=at, uncertain=doubt)

    def dead(self, key: str, why: str) -> None:
        """Give it up, for a reason that holds for ever."""
        self._set(key, status="dead", why=plain(why)[:500], ended_at=self._database.now())

    def ts_of(self, key: str) -> str | None:
        """Return the platform's id of a letter that was sent."""
        return self._text(letters.c.ts, key)

    def get(self, key: str) -> Letter | None:
        """Return a letter as it was added; None where there is none that this version can read."""
        body = self._text(letters.c.body, key)
        try:
            return Letter.model_validate_json(body) if body is not None else None
        except ValidationError:
            return None

    def link(self, key: str, url: str) -> None:
        """Note the address of what was sent."""
        self._set(key, link=url)

    def link_of(self, key: str) -> str | None:
        """Return the address of what was sent."""
        return self._text(letters.c.link, key)

    def status_of(self, key: str) -> str | None:
        """Return due, sending, sent or dead; None: no such letter."""
        return self._text(letters.c.status, key)

    def count_open(self) -> int:
        """Count what is not delivered yet, whether it is due or not."""
        query = select(func.count()).select_from(letters).where(letters.c.status.in_(_OPEN))
        with self._database.reading() as connection:
            return int(connection.execute(query).scalar_one())

    def owed_since(self, at: float) -> bool:
        """Say whether a first reply that was written since then has not arrived yet."""
        first = or_(letters.c.key.like("run:%:trail"), letters.c.key.like("say:%"))
        query = select(letters.c.id).where(
            letters.c.status.in_(_OPEN), letters.c.added_at >= at, first
        )
        with self._database.reading() as connection:
            return connection.execute(query.limit(1)).first() is not None

    def _deliverable(self) -> ColumnElement[bool]:
        now = self._database.now()
        return or_(
            and_(letters.c.status == "due", letters.c.due_at <= now),
            and_(letters.c.status == "sending", self._left_over(letters.c)),
        )

    def _left_over(self, of: Any) -> ColumnElement[bool]:
        late: ColumnElement[bool] = of.claimed_at <= self._database.now() - LEASE_S
        if self._database.sqlite:
            return or_(of.opening != self._database.opening, late)
        if self._executor is None:
            return late
        ours = and_(of.executor == self._executor, of.opening != self._database.opening)
        return or_(func.coalesce(ours, False), late)

    def _due(self, row: Row[Any]) -> Due | None:
        try:
            letter = Letter.model_validate_json(row.body)
        except ValidationError:
            _LOG.error("a letter of another version cannot be read: %s", row.key)
            self.dead(row.key, "written by another version, and cannot be read")
            return None
        uncertain = bool(row.uncertain) or row.status == "sending"
        return Due(letter, row.tries, uncertain, row.ts)

    def _set(self, key: str, **values: Any) -> None:
        with self._database.writing() as connection:
            connection.execute(update(letters).where(letters.c.key == key).values(values))

    def _text(self, column: ColumnElement[Any], key: str) -> str | None:
        with self._database.reading() as connection:
            found: str | None = connection.execute(
                select(column).where(letters.c.key == key)
            ).scalar()
            return found
