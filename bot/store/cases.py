"""The cases: what each run has learned so far, compressed."""

from __future__ import annotations

import zlib

from sqlalchemy import select

from bot.store.database import Database
from bot.store.errors import StoreError
from bot.store.schema import cases
from tools.case import Case


class Cases:
    """One case for each run; saved after each round, so that a restart goes on from there."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, run_id: int, case: Case) -> None:
        """Keep it in the place of an earlier one of the same run."""
        body = zlib.compress(case.dump().encode())
        row = {"run": run_id, "body": body, "saved_at": self._database.now()}
        insert = self._database.insert(cases).values(row)
        new = {"body": insert.excluded.body, "saved_at": insert.excluded.saved_at}
        with self._database.writing() as connection:
            connection.execute(insert.on_conflict_do_update(index_elements=["run"], set_=new))

    def since(self, at: float) -> list[int]:
        """Return the runs of which the looks were kept since then, oldest first."""
        query = select(cases.c.run).where(cases.c.saved_at >= at).order_by(cases.c.run)
        with self._database.reading() as connection:
            return list(connection.execute(query).scalars())

    def load(self, run_id: int) -> Case | None:
        """Return it; raise CaseError where this version cannot read it. None: nothing was kept."""
        with self._database.reading() as connection:
            body = connection.execute(select(cases.c.body).where(cases.c.run == run_id)).scalar()
        if body is None:
            return None
        try:
            text = zlib.decompress(body).decode()
        except (zlib.error, UnicodeDecodeError):
            raise StoreError(
                f"The case of run {run_id} is damaged: put a backup of {self._database.place} in its place."
            ) from None
        return Case.load(text, name=f"the case of run {run_id}")
