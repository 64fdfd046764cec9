"""The tables of several replicas at once: who lives, and who holds a place of those that are limited."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, Index, Integer, Table, Text

from bot.store.schema import TABLES

_T, _N = Text, Double

replicas = Table(
    "replicas",
    TABLES,
    Column("executor", _T, primary_key=True),
    Column("opening", _T, nullable=False),  # which of its processes
    Column("beats", BigInteger, nullable=False),  # grows while it lives; no clock is compared
    Column("works", _T, nullable=False),  # the kind of work that it takes up
    Column("at", _N, nullable=False),
)

places = Table(
    "places",
    TABLES,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("key", _T, nullable=False),  # of what there are few: "jump bastion"
    Column("executor", _T),
    Column("opening", _T, nullable=False),
    Column("until", _N, nullable=False),
    Index("places_key", "key", "until"),
    Index("places_opening", "opening"),
    sqlite_autoincrement=True,
)
