"""What the store can count for a monitor: work by kind and state, verdicts, changes, letters, tokens, money."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select

from bot.store.change_tables import experiments
from bot.store.database import Database
from bot.store.growth_tables import replicas
from bot.store.run import ENDED
from bot.store.schema import letters, runs, spending


@dataclass(frozen=True)
class Counted:
    """Of all replicas together, since the database was made."""

    runs: dict[tuple[str, str], int]  # (kind, state)
    verdicts: dict[str, int]  # by category
    experiments: dict[str, int]  # by the phase in which they ended
    letters_open: int
    oldest_waiting_s: float
    tokens: int
    usd: float
    replicas: int


class Counts:
    """Reads alone; one transaction, so that the figures belong together."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def now(self) -> Counted:
        """Count; raises StoreError."""
        kinds = select(runs.c.kind, runs.c.state, func.count()).group_by(runs.c.kind, runs.c.state)
        verdicts = (
            select(runs.c.category, func.count())
            .where(runs.c.category.is_not(None), runs.c.state.in_(ENDED))
            .group_by(runs.c.category)
        )
        ends = (
            select(experiments.c.phase, func.count())
            .where(experiments.c.ended_at.is_not(None))
            .group_by(experiments.c.phase)
        )
        unsent = select(func.count()).where(letters.c.status.in_(("due", "sending")))
        oldest = select(func.min(runs.c.asked_at)).where(runs.c.state == "waiting")
        spent = select(
            func.coalesce(func.sum(spending.c.tokens), 0),
            func.coalesce(func.sum(spending.c.usd), 0),
        )
        with self._database.reading() as connection:
            since = connection.execute(oldest).scalar()
            tokens, usd = connection.execute(spent).one()
            return Counted(
                runs={(kind, state): n for kind, state, n in connection.execute(kinds)},
                verdicts={str(row[0]): int(row[1]) for row in connection.execute(verdicts)},
                experiments={str(row[0]): int(row[1]) for row in connection.execute(ends)},
                letters_open=int(connection.execute(unsent).scalar_one()),
                oldest_waiting_s=max(0.0, self._database.now() - since) if since else 0.0,
                tokens=int(tokens),
                usd=float(usd),
                replicas=int(
                    connection.execute(select(func.count()).select_from(replicas)).scalar_one()
                ),
            )

    def answers(self) -> None:
        """Ask for nothing; raises StoreError where the database does not answer."""
        with self._database.reading() as connection:
            connection.execute(select(1))
