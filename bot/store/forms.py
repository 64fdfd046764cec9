"""The form of the database: it is created where there is none, and an older one is brought forward."""

from __future__ import annotations

from sqlalchemy import Connection, Table, inspect, select, text

from bot.store import change_tables, growth_tables, health_tables
from bot.store.database import Database
from bot.store.errors import StoreError
from bot.store.schema import TABLES, schema_version

VERSION = 2  # of the form; grows with each migration
_LOCK = 0x70736C31  # any number; the same for all who create the tables at the same time

# What each version brought, by its number: tables, of which those before it know nothing. A change
# of a table that exists goes beside it as a statement, before VERSION grows.
_NEW: dict[int, tuple[Table, ...]] = {
    2: (
        change_tables.proposals,
        change_tables.experiments,
        change_tables.experiment_steps,
        change_tables.host_leases,
        health_tables.schedules,
        health_tables.health_days,
        health_tables.sweeps,
        health_tables.sweep_hosts,
        health_tables.acknowledgements,
        health_tables.watches,
        growth_tables.replicas,
        growth_tables.places,
    ),
}


def prepare(database: Database) -> None:
    """Create what is missing, bring an older form forward; refuse a newer one with a StoreError.

    All of it is one transaction: a process that dies in between leaves the form that was there.
    """
    with database.writing() as connection:
        if not database.sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        found = _version(connection)
        if found is None:
            TABLES.create_all(connection)
            connection.execute(schema_version.insert().values(version=VERSION))
        elif found > VERSION:
            raise StoreError(
                f"{database.place} was written by a newer perfsleuth (form {found}, this one knows {VERSION}): "
                "install that version again, or name another database."
            )
        elif found < VERSION:
            for number in range(found + 1, VERSION + 1):
                TABLES.create_all(connection, tables=_NEW[number])
            connection.execute(schema_version.update().values(version=VERSION))


def _version(connection: Connection) -> int | None:
    if not inspect(connection).has_table(schema_version.name):
        return None
    return connection.execute(select(schema_version.c.version)).scalar()
