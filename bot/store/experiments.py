"""The experiments: records, their steps, what came of earlier ones, and who holds which server."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, Row, select, update

from bot.experiment.books import Approved, Held, Overtaken, Said
from bot.experiment.record import Record
from bot.store.change_tables import experiment_steps, experiments, host_leases
from bot.store.database import Database, plain
from bot.store.errors import StoreError
from bot.store.proposals import Proposals
from bot.store.run import ENDED
from bot.store.schema import runs


class Experiments:
    """The books of bot.experiment. A lease ends when it is given back, or with the run that has it.

    Each taking gives a higher fence, also to the same run: a process that only seemed dead is known
    by its lower one, here and on the host.
    """

    def __init__(self, database: Database, proposals: Proposals) -> None:
        self._database, self._proposals = database, proposals

    def approved(self, run: int, /) -> Approved | None:
        """Return what this run was accepted for; None: nothing that is approved."""
        offer = self._proposals.of_experiment(run)
        if offer is None or offer.state != "approved" or offer.proposal is None:
            return None
        return Approved(
            offer.proposal, offer.digest, offer.decided_by or "", offer.decided_at or 0.0
        )

    def take(self, host: str, port: int, run: int, /) -> int:
        """Take a server for a run and return the fence; raise Held where another run has it."""
        key, now = _key(host, port), self._database.now()
        with self._database.writing() as connection:
            self._database.hold(f"lease of {key}")
            query = select(host_leases).where(host_leases.c.host_key == key)
            lease = connection.execute(query).first()
            if lease is None:
                row = {"host_key": key, "fence": 1, "run": run, "taken_at": now}
                connection.execute(host_leases.insert().values(row))
                return 1
            if lease.run != run and lease.given_back_at is None and _lives(connection, lease.run):
                raise Held(
                    f"{host} is held by the experiment of run {lease.run}, since {_when(lease.taken_at)}: "
                    "wait for its end, or stop it."
                )
            new = {"fence": lease.fence + 1, "run": run, "taken_at": now, "given_back_at": None}
            connection.execute(update(host_leases).where(host_leases.c.host_key == key).values(new))
            return int(lease.fence) + 1

    def give_back(self, host: str, port: int, run: int, /) -> None:
        """Give it back. Nothing happens where another run has it."""
        with self._database.writing() as connection:
            mine = (host_leases.c.host_key == _key(host, port), host_leases.c.run == run)
            statement = update(host_leases).where(*mine, host_leases.c.given_back_at.is_(None))
            connection.execute(statement.values(given_back_at=self._database.now()))

    def holder(self, host: str, port: int, /) -> int | None:
        """Return the run that has a server now."""
        query = select(host_leases.c.run).where(
            host_leases.c.host_key == _key(host, port), host_leases.c.given_back_at.is_(None)
        )
        with self._database.reading() as connection:
            run: int | None = connection.execute(query).scalar()
            return run if run is not None and _lives(connection, run) else None

    def load(self, run: int, /) -> Record | None:
        """Return the record as it was saved last; None: it was never begun."""
        query = select(experiments.c.body).where(experiments.c.run == run)
        with self._database.reading() as connection:
            body = connection.execute(query).scalar()
        if body is None:
            return None
        try:
            return Record.model_validate_json(body)
        except ValidationError:
            raise StoreError(
                f"The experiment of run {run} was written by another version: go on with that version."
            ) from None

    def save(self, record: Record, said: Sequence[Said] = (), /) -> None:
        """Write record and steps in one transaction; raise Overtaken where a higher fence was given."""
        row = {
            "run": record.run,
            "host_key": record.host_key,
            "model": record.proposal.model,
            "version": record.proposal.version,
            "digest": record.proposal.digest,
            "name": record.name,
            "phase": record.phase,
            "fence": record.fence,
            "began_at": record.began_at,
            "ended_at": record.ended_at,
            "body": plain(record.model_dump_json()),
        }
        insert = self._database.insert(experiments).values(row)
        statement = insert.on_conflict_do_update(
            index_elements=["run"],
            set_={name: insert.excluded[name] for name in row if name != "run"},
            where=experiments.c.fence <= record.fence,
        ).returning(experiments.c.run)
        with self._database.writing() as connection:
            self._database.hold(f"lease of {record.host_key}")
            query = select(host_leases.c.fence).where(host_leases.c.host_key == record.host_key)
            newest = connection.execute(query).scalar() or 0
            if newest > record.fence or connection.execute(statement).first() is None:
                raise Overtaken(
                    f"Another process has taken up the experiment of run {record.run}, and goes on with it."
                )
            steps = [{**vars(one), "run": record.run, "text": plain(one.text)} for one in said]
            if steps:
                connection.execute(experiment_steps.insert(), steps)

    def said(self, run: int, /) -> Sequence[Said]:
        """Return all steps of a run, in order."""
        mine = experiment_steps.c.run == run
        query = select(experiment_steps).where(mine).order_by(experiment_steps.c.id)
        with self._database.reading() as connection:
            return [
                Said(row.at, row.phase, row.text, row.took_s, bool(row.ill))
                for row in connection.execute(query)
            ]

    def results(self, host: str | None, model: str | None, limit: int, /) -> Sequence[Record]:
        """Return the newest ended experiments, newest first; None: of any host, of any model.

        One that another version wrote, and this one cannot read, is left out.
        """
        query = select(experiments.c.body).where(experiments.c.ended_at.is_not(None))
        if host is not None:
            name = host.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            query = query.where(experiments.c.host_key.like(f"{name}:%", escape="\\"))
        if model is not None:
            query = query.where(experiments.c.model == model)
        query = query.order_by(experiments.c.ended_at.desc(), experiments.c.run.desc())
        with self._database.reading() as connection:
            rows = connection.execute(query.limit(limit)).all()
        return [record for row in rows if (record := _readable(row)) is not None]


def _readable(row: Row[Any]) -> Record | None:
    try:
        return Record.model_validate_json(row.body)
    except ValidationError:
        return None


def _lives(connection: Connection, run: int) -> bool:
    """Say whether a run has not ended; one that is not known any more has."""
    state = connection.execute(select(runs.c.state).where(runs.c.id == run)).scalar()
    return state is not None and state not in ENDED


def _key(host: str, port: int) -> str:
    return f"{host.lower()}:{port}"


def _when(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
