"""The tables of what is asked and answered; those of changes to a host are in change_tables.py."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

TABLES = MetaData()
_T, _N = Text, Double


def _id() -> Column[int]:
    # Never given twice, not even after a row was removed: jobs and letters are named by it.
    return Column("id", Integer, primary_key=True, autoincrement=True)


schema_version = Table("schema_version", TABLES, Column("version", Integer, nullable=False))

inbox = Table(
    "inbox",
    TABLES,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", _T, nullable=False, unique=True),
    Column("kind", _T, nullable=False),
    Column("body", _T, nullable=False),
    Column("at", _N, nullable=False),
    Column("handled_at", _N),
    sqlite_autoincrement=True,
)
Index(
    "inbox_open",
    inbox.c.number,
    sqlite_where=inbox.c.handled_at.is_(None),
    postgresql_where=inbox.c.handled_at.is_(None),
)

runs = Table(
    "runs",
    TABLES,
    _id(),
    Column("key", _T, nullable=False, unique=True),
    Column("kind", _T, nullable=False),
    Column("state", _T, nullable=False),
    Column("host", _T),
    Column("host_key", _T),  # the host in small letters: names are compared without case
    Column("port", Integer),
    Column("channel", _T, nullable=False),
    Column("thread", _T, nullable=False),
    Column("user", _T, nullable=False),
    Column("text", _T, nullable=False),
    Column("message", _T, nullable=False),
    Column("asked_at", _N, nullable=False),
    Column("began_at", _N),
    Column("ended_at", _N),
    Column("joins", Integer),
    Column("about", Integer),
    Column("stop_by", _T),
    Column("restarts", Integer, nullable=False, default=0),
    Column("category", _T),
    Column("headline", _T),
    Index("runs_state", "state", "id"),
    Index("runs_host", "host_key", "state"),
    Index("runs_thread", "channel", "thread"),
    Index("runs_user", "user", "asked_at"),
    Index("runs_joins", "joins"),
    sqlite_autoincrement=True,
)

letters = Table(
    "letters",
    TABLES,
    _id(),
    Column("key", _T, nullable=False, unique=True),
    Column("channel", _T, nullable=False),
    Column("thread", _T, nullable=False),
    Column("run", Integer),
    Column("body", _T, nullable=False),
    Column("status", _T, nullable=False),  # due, sending, sent, dead
    Column("due_at", _N, nullable=False),
    Column("tries", Integer, nullable=False, default=0),
    Column("uncertain", Boolean, nullable=False, default=False),
    Column("executor", _T),  # of a letter that is being sent: by which replica,
    Column("opening", _T),  # by which of its processes,
    Column("claimed_at", _N),  # and since when
    Column("ts", _T),
    Column("link", _T),
    Column("why", _T),
    Column("added_at", _N, nullable=False),
    Column("ended_at", _N),
    Index("letters_status", "status", "id"),
    Index("letters_thread", "channel", "thread", "status"),
    Index("letters_run", "run"),
    sqlite_autoincrement=True,
)

cases = Table(
    "cases",
    TABLES,
    Column("run", Integer, primary_key=True, autoincrement=False),
    Column("body", LargeBinary, nullable=False),
    Column("saved_at", _N, nullable=False),
)

opinions = Table(
    "opinions",
    TABLES,
    _id(),
    Column("run", Integer, nullable=False),
    Column("user", _T, nullable=False),
    Column("right", Boolean, nullable=False),
    Column("reason", _T, nullable=False),
    Column("at", _N, nullable=False),
    UniqueConstraint("run", "user"),
    sqlite_autoincrement=True,
)

audit = Table(
    "audit",
    TABLES,
    _id(),
    Column("at", _N, nullable=False),
    Column("user", _T, nullable=False),
    Column("channel", _T, nullable=False),
    Column("act", _T, nullable=False),
    Column("what", _T, nullable=False),
    Column("outcome", _T, nullable=False),
    Column("host", _T),
    sqlite_autoincrement=True,
)

heard = Table(
    "heard",
    TABLES,
    Column("channel", _T, primary_key=True),
    Column("ts", _T, nullable=False),
    Column("at", _N, nullable=False),
)

spending = Table(
    "spending",
    TABLES,
    Column("day", _T, primary_key=True),  # of UTC, as 2026-11-30
    Column("tokens", BigInteger, nullable=False),
    Column("usd", _N, nullable=False),
)
