"""One database, SQLite or PostgreSQL: transactions that many threads and processes may share."""

from __future__ import annotations

import contextvars
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Double,
    Engine,
    Table,
    cast,
    create_engine,
    event,
    extract,
    func,
    literal,
    make_url,
)
from sqlalchemy import text as sql
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from bot.store.errors import StoreError, place_of, told
from bot.store.turn import Turn

_BUSY_S = 20  # how long a writer of another process may hold SQLite before we give up
IDLE_S = 10  # PostgreSQL ends a transaction in which nothing happens for so long: who holds it stands still
_CONNECT_S = 5  # how long PostgreSQL may take to answer a connection
_POOL = 24  # connections to a file: limits.at_once workers and the threads of the loop
_CACHE_KB = 512  # of pages, for each connection to a file
_POOL_POSTGRES = 10  # PostgreSQL allows 100 in all by default, and replicas share them


class Database:
    """Gives connections. `writing` and `reading` join the transaction of `together`, if there is one.

    On SQLite a transaction that writes begins with BEGIN IMMEDIATE, because one that reads first and
    writes then fails at once when another has written in between; writers of this process queue
    for their turn, because SQLite's own waiting is a sleep that may starve one of them.
    """

    def __init__(self, url: URL, now: Callable[[], float]) -> None:
        self.place = place_of(url)
        self.sqlite = url.get_backend_name() == "sqlite"
        self.opening = secrets.token_hex(8)  # names this opening, and so this process
        self.now = now
        self.engine = _sqlite(url) if self.sqlite else _postgres(url)
        self._turn = Turn() if self.sqlite else None
        self._open: contextvars.ContextVar[tuple[int, Connection] | None] = contextvars.ContextVar(
            f"together-{self.opening}", default=None
        )

    def insert(self, table: Table) -> sqlite.Insert:
        """Return an INSERT that knows ON CONFLICT; both dialects spell its methods alike."""
        return sqlite.insert(table) if self.sqlite else postgresql.insert(table)  # type: ignore[return-value]

    def adds(self, connection: Connection, table: Table, row: Mapping[str, Any]) -> bool:
        """Insert a row. False: one with its unique key is there already, and stays as it is."""
        # RETURNING, because a count of rows is not given where PostgreSQL returns a new id.
        first = next(iter(table.primary_key.columns))
        insert = self.insert(table).values(dict(row)).on_conflict_do_nothing().returning(first)
        return connection.execute(insert).first() is not None

    @contextmanager
    def writing(self, *, urgent: bool = False) -> Iterator[Connection]:
        """Give a connection inside a transaction that is committed at the end, or rolled back.

        `urgent` goes before the others of this process: an ack of Slack waits for it.
        """
        if (joined := self._joined()) is not None:
            with self._told():
                yield joined
            return
        turn = self._turn.taken(urgent=urgent) if self._turn else nullcontext()
        with self._told(), turn, self.engine.begin() as connection:
            token = self._open.set((threading.get_ident(), connection))
            try:
                yield connection
            finally:
                self._open.reset(token)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection that sees one state of the database and writes nothing."""
        if (joined := self._joined()) is not None:
            with self._told():
                yield joined
            return
        with self._told(), self.engine.connect() as connection:
            connection.execution_options(reads=True)
            yield connection

    def hold(self, name: str) -> None:
        """Let nobody else decide on what has this name until the end of the transaction.

        On SQLite one transaction writes at a time anyway.
        """
        if not self.sqlite:
            with self.reading() as connection:
                connection.execute(
                    sql("SELECT pg_advisory_xact_lock(hashtext(:name))"), {"name": name}
                )

    def clock(self) -> ColumnElement[float]:
        """Return the time, in seconds since the epoch, by the one clock that all replicas share."""
        if self.sqlite:
            return literal(self.now())
        return cast(extract("epoch", func.clock_timestamp()), Double)

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()

    def _joined(self) -> Connection | None:
        # A context may be copied into another thread; a connection may not.
        found = self._open.get()
        return found[1] if found is not None and found[0] == threading.get_ident() else None

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as why:
            raise told(why, self.place, sqlite=self.sqlite) from None


def read_url(text: str) -> URL:
    """Read the setting; raise StoreError without repeating it, because it may hold a password."""
    try:
        url = make_url(text)
        backend = url.get_backend_name()
    except (ArgumentError, ValueError):
        backend = ""
    if backend == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite" or url.database in (None, "", ":memory:"):
        raise StoreError(
            "PERFSLEUTH_DATABASE_URL must be sqlite:////path/to/file.sqlite or "
            "postgresql://USER@HOST/NAME (USER:PASSWORD where one is needed)."
        )
    return url.set(drivername="sqlite+pysqlite")


def plain(text: str) -> str:
    """Free a text of what neither database can hold: NUL, and halves of surrogates."""
    return (
        text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")
    )


def create_private(path: Path) -> None:
    """Create an empty file, and its folder, that nobody else can read; an old one stays as it is."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # SQLite gives -wal and -shm the mode of the file itself.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as why:
        raise StoreError(
            f"{path.absolute()} cannot be opened ({why.strerror}): let the bot's user write there, "
            "or name another file in PERFSLEUTH_DATABASE_URL."
        ) from None


def _sqlite(url: URL) -> Engine:
    create_private(Path(url.database or ""))
    engine = create_engine(url, pool_size=_POOL, max_overflow=0, connect_args={"timeout": _BUSY_S})
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return engine


def _set_up(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # the driver must not begin transactions of its own
    _use_wal(connection)
    # FULL: what was acknowledged to Slack survives a power cut, at one fsync for each transaction.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    # SQLite's own 2 MB for each of 24 connections would be 48; the kernel holds the file anyway.
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KB}")


def _use_wal(connection: Any) -> None:
    # The file remembers it. The switch needs the file alone, and does not wait for that by itself.
    until = time.monotonic() + _BUSY_S
    while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def _begin(connection: Connection) -> None:
    reads = connection.get_execution_options().get("reads")
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _postgres(url: URL) -> Engine:
    engine = create_engine(
        url,
        pool_size=_POOL_POSTGRES,
        max_overflow=0,
        pool_pre_ping=True,  # a connection that the server has dropped is made anew
        connect_args={"connect_timeout": _CONNECT_S},
    )
    event.listen(engine, "connect", _end_what_stands_still)
    return engine


def _end_what_stands_still(connection: Any, _record: object) -> None:
    # A replica that is frozen in the middle of its beat would hold up whoever takes over from it.
    connection.execute(f"SET idle_in_transaction_session_timeout = {IDLE_S * 1000}")
    connection.commit()
