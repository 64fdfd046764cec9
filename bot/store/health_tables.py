"""The tables of mornings: schedules, sweeps host by host, the days of each host, what is known, what is watched."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Double, Index, Integer, Table, Text, UniqueConstraint

from bot.store.schema import TABLES

_T, _N = Text, Double

schedules = Table(
    "schedules",
    TABLES,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("channel", _T, nullable=False),
    Column("name", _T, nullable=False),  # of the hosts: one summary a day in a channel over them
    Column("body", _T, nullable=False),
    Column("user", _T, nullable=False),  # who wants it, and whose hosts it tells of
    Column("at", _N, nullable=False),
    UniqueConstraint("channel", "name"),
    sqlite_autoincrement=True,
)

health_days = Table(
    "health_days",
    TABLES,
    Column("host_key", _T, primary_key=True),  # the host in small letters, as in runs
    Column("date", _T, primary_key=True),  # where the summary is read, as 2026-11-30
    Column("body", _T, nullable=False),
    Column("at", _N, nullable=False),
    Index("health_days_at", "at"),
)

sweeps = Table(
    "sweeps",
    TABLES,
    Column("run", Integer, primary_key=True, autoincrement=False),
    Column("date", _T, nullable=False),
    Column("daily", Boolean, nullable=False),  # whether its looks are the days of its hosts
    Column("made_at", _N, nullable=False),
    Column("done_at", _N),  # null: some host waits, or is being looked at
)

sweep_hosts = Table(
    "sweep_hosts",
    TABLES,
    Column("run", Integer, primary_key=True, autoincrement=False),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("host", _T, nullable=False),
    Column("state", _T, nullable=False),  # waiting, looking, done
    Column("executor", _T),  # of one that is being looked at: by which replica,
    Column("opening", _T),  # by which of its processes,
    Column("claimed_at", _N),  # and since when
    Column("takes", Integer, nullable=False, default=0),  # more than one: somebody died over it
    Column("body", _T),
    Index("sweep_hosts_state", "run", "state"),
)

acknowledgements = Table(
    "acknowledgements",
    TABLES,
    Column("host_key", _T, primary_key=True),
    Column("name", _T, primary_key=True),  # a cause, a figure, or a state
    Column("user", _T, nullable=False),
    Column("at", _N, nullable=False),
    Column("until", _N, nullable=False),
)

watches = Table(
    "watches",
    TABLES,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("host", _T, nullable=False),
    Column("host_key", _T, nullable=False),
    Column("cause", _T, nullable=False),
    Column("channel", _T, nullable=False),
    Column("thread", _T, nullable=False),
    Column("user", _T, nullable=False),
    Column("every_s", _N, nullable=False),
    Column("made_at", _N, nullable=False),
    Column("until", _N, nullable=False),
    Column("next_at", _N, nullable=False),
    Column("gone", Boolean, nullable=False),  # since it began the condition was seen to be gone
    Column("ended_at", _N),
    Column("outcome", _T),
    Index("watches_next", "ended_at", "next_at"),
    Index("watches_thread", "channel", "thread"),
    sqlite_autoincrement=True,
)
