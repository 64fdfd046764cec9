"""The tables of changes to a host: proposals, experiments with their steps, and who holds which host."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Double, Index, Integer, Table, Text, text

from bot.store.schema import TABLES

_T, _N = Text, Double

proposals = Table(
    "proposals",
    TABLES,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("run", Integer, nullable=False, unique=True),  # that made it: one makes one
    Column("host", _T, nullable=False),
    Column("host_key", _T, nullable=False),  # the host in small letters, as in runs
    Column("port", Integer, nullable=False),
    Column("channel", _T, nullable=False),
    Column("thread", _T, nullable=False),
    Column("user", _T, nullable=False),  # who asked for it
    Column("body", _T, nullable=False),
    Column("digest", _T, nullable=False),
    Column("state", _T, nullable=False),  # pending, approved, declined, replaced, expired
    Column("made_at", _N, nullable=False),
    Column("expires_at", _N, nullable=False),
    Column("decided_by", _T),
    Column("decided_at", _N),
    Column("experiment", Integer, unique=True),  # the run that carries it out
    Index("proposals_thread", "channel", "thread"),
    sqlite_autoincrement=True,
)
# One server has one change that may be approved, whoever makes another at the same time.
Index(
    "proposals_pending",
    proposals.c.host_key,
    proposals.c.port,
    unique=True,
    sqlite_where=text("state = 'pending'"),
    postgresql_where=text("state = 'pending'"),
)

experiments = Table(
    "experiments",
    TABLES,
    Column("run", Integer, primary_key=True, autoincrement=False),
    Column("host_key", _T, nullable=False),  # HOST:PORT in small letters, as in host_leases
    Column("model", _T),
    Column("version", _T),
    Column("digest", _T, nullable=False),  # of the proposal that was approved
    Column("name", _T, nullable=False),
    Column("phase", _T, nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("began_at", _N, nullable=False),
    Column("ended_at", _N),
    Column("body", _T, nullable=False),  # the whole record, as JSON
    Index("experiments_ended", "ended_at", "run"),
)

experiment_steps = Table(
    "experiment_steps",
    TABLES,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("run", Integer, nullable=False),
    Column("at", _N, nullable=False),
    Column("phase", _T, nullable=False),
    Column("text", _T, nullable=False),
    Column("took_s", _N),
    Column("ill", Boolean, nullable=False),
    Index("experiment_steps_run", "run", "id"),
    sqlite_autoincrement=True,
)

host_leases = Table(
    "host_leases",
    TABLES,
    Column("host_key", _T, primary_key=True),
    Column("fence", BigInteger, nullable=False),  # grows with each taking and is never given twice
    Column("run", Integer, nullable=False),
    Column("taken_at", _N, nullable=False),
    Column("given_back_at", _N),  # null: held
)
