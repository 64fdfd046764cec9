"""The store: everything that must outlive the process, by noun, and one transaction over all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

from sqlalchemy import and_, delete, exists, not_, or_, select

from bot.store.audit import Audit
from bot.store.cases import Cases
from bot.store.counts import Counts
from bot.store.database import Database, read_url
from bot.store.days import Days
from bot.store.experiments import Experiments
from bot.store.forms import prepare
from bot.store.heard import Heard
from bot.store.inbox import Inbox
from bot.store.known import Acknowledgements
from bot.store.ledger import Ledger
from bot.store.letters import Letters
from bot.store.opinions import Opinions
from bot.store.places import Places
from bot.store.proposals import Proposals
from bot.store.replicas import Replicas
from bot.store.run import ENDED
from bot.store.runs import Runs
from bot.store.schedules import Schedules
from bot.store.schema import cases as case_rows
from bot.store.schema import letters as letter_rows
from bot.store.schema import runs as run_rows
from bot.store.sweeps import Sweeps
from bot.store.watches import Watches


class Store:
    """Sync and thread-safe; several processes may use one database. Raises StoreError alone."""

    def __init__(self, database: Database, executor: str | None = None) -> None:
        self._database = database
        self.inbox = Inbox(database)
        self.runs = Runs(database)
        self.letters = Letters(database, executor)
        self.cases = Cases(database)
        self.opinions = Opinions(database)
        self.audit = Audit(database)
        self.heard = Heard(database)
        self.ledger = Ledger(database)
        self.proposals = Proposals(database)
        self.experiments = Experiments(database, self.proposals)
        self.schedules = Schedules(database)
        self.days = Days(database)
        self.sweeps = Sweeps(database, executor, self.days)
        self.acknowledged = Acknowledgements(database)
        self.watches = Watches(database)
        self.counts = Counts(database)
        self.replicas = Replicas(database, executor)
        self.places = Places(database, executor)

    @classmethod
    def open(
        cls, url: str, *, executor: str | None = None, now: Callable[[], float] = time.time
    ) -> Self:
        """Open the database of PERFSLEUTH_DATABASE_URL and create what is missing there.

        `executor` names this replica, so that what its last process was sending is due at once.
        """
        database = Database(read_url(url), now)
        try:
            prepare(database)
        except BaseException:
            database.close()
            raise
        return cls(database, executor)

    @contextmanager
    def together(self, *, urgent: bool = False) -> Iterator[None]:
        """Let everything inside be one transaction; one inside another joins it.

        An exception that leaves it takes all of it back. Nothing slow belongs inside: on SQLite
        nobody else can write meanwhile. `urgent` goes before the other writers of this process.
        """
        with self._database.writing(urgent=urgent):
            yield

    def owes_a_reply(self, within_s: float) -> bool:
        """Say whether somebody who wrote in the last so many seconds has seen nothing yet."""
        since = self._database.now() - within_s
        return self.inbox.owed_since(since) or self.letters.owed_since(since)

    def tidy(self, older_than_s: float) -> int:
        """Remove what was over so long ago: handled events, sent letters, cases; return how many rows.

        Work that is open keeps everything; runs, opinions and the audit stay. Below a week an event
        that Slack, or a look into the history, brings once more could count as new.
        """
        until = self._database.now() - older_than_s
        over = and_(run_rows.c.state.in_(ENDED), run_rows.c.ended_at <= until)
        its_run_is_open = exists().where(
            run_rows.c.id == letter_rows.c.run, not_(run_rows.c.state.in_(ENDED))
        )
        old_letters = delete(letter_rows).where(
            letter_rows.c.status.in_(("sent", "dead")),
            letter_rows.c.ended_at <= until,
            or_(letter_rows.c.run.is_(None), not_(its_run_is_open)),
        )
        old_cases = delete(case_rows).where(case_rows.c.run.in_(select(run_rows.c.id).where(over)))
        with self._database.writing() as connection:
            removed = self.inbox.forget(older_than_s)
            for noun in (self.sweeps, self.acknowledged, self.watches, self.days):
                removed += noun.forget(older_than_s)
            removed += connection.execute(old_letters).rowcount
            return removed + connection.execute(old_cases).rowcount

    @property
    def shared(self) -> bool:
        """Say whether several bots may use it at once: PostgreSQL; an SQLite file serves one."""
        return not self._database.sqlite

    def now(self) -> float:
        """Return the time of this store, in seconds since the epoch."""
        return self._database.now()

    def close(self) -> None:
        """Give all connections back."""
        self._database.close()
