"""The lock that one live bot holds: of an SQLite file, or of an executor's name on PostgreSQL."""

from __future__ import annotations

import fcntl
import logging
import os
import threading
from pathlib import Path
from typing import Protocol

from sqlalchemy import URL, Connection, create_engine, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from bot.store.database import read_url
from bot.store.errors import StoreError, place_of, told

_SPACE = 0x70736C32  # our own space of advisory locks; any number
_NAMES = 256  # of replicas that choose their own; more share no database of one team
# The server asks a silent connection after 10 s and gives it up 15 s later (postgresql.conf): a
# machine that lost its power does not hold its name for two hours.
_GONE_SOON = "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3"
_LOOK_S = 15  # how often the connection that holds the lock is looked after
_LOG = logging.getLogger("perfsleuth.store")


class Lock(Protocol):
    """Held until it is released, or the process ends in whatever way."""

    def release(self) -> None:
        """Let another bot have it."""


def hold(url: str, executor: str) -> Lock:
    """Take the lock; raise StoreError where another live process holds it.

    Two live processes that go by one name would each take up what the other is still doing. An
    SQLite file serves one bot, whatever its name.
    """
    place = read_url(url)
    return _File(place) if place.get_backend_name() == "sqlite" else _Advisory(place, executor)


def hold_any(url: str) -> tuple[Lock, str]:
    """Take the first name of perfsleuth-0, perfsleuth-1 … that no live process goes by, and return it.

    A replica that comes back takes up what the last one of that name left. Raises StoreError.
    """
    for number in range(_NAMES):
        try:
            return hold(url, name := f"perfsleuth-{number}"), name
        except NameTaken:
            continue
    raise StoreError(f"{_NAMES} bots use this database already: end one, or name another database.")


class NameTaken(StoreError):
    """Another live process goes by that name."""


class _File:
    """flock: the kernel lets go of it when the process ends."""

    def __init__(self, url: URL) -> None:
        path = Path(f"{url.database}.lock")
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as why:
            raise StoreError(
                f"{path} cannot be opened ({why.strerror}): let the bot's user write there."
            ) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(self._file, 20).decode("ascii", "replace").strip()
            os.close(self._file)
            raise StoreError(
                f"Another perfsleuth bot{f' (process {holder})' if holder.isdigit() else ''} uses {place_of(url)}: "
                "end it first, or name another database in PERFSLEUTH_DATABASE_URL."
            ) from None
        os.ftruncate(self._file, 0)
        os.write(self._file, str(os.getpid()).encode())

    def release(self) -> None:
        """Let go; the file stays, because removing it could split the lock in two."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class _Advisory:
    """An advisory lock lives as long as its connection, which is looked after and made anew."""

    def __init__(self, url: URL, executor: str) -> None:
        self._url, self._executor = url, executor
        self._ended = threading.Event()
        self._connection = self._take()
        self._looker = threading.Thread(target=self._look, name="perfsleuth-lock", daemon=True)
        self._looker.start()

    def release(self) -> None:
        """Let go of it."""
        self._ended.set()
        self._looker.join(timeout=10)
        self._close()

    def _take(self) -> Connection:
        try:
            engine = create_engine(
                self._url,
                poolclass=NullPool,
                connect_args={"connect_timeout": 5, "options": _GONE_SOON},
            )
            connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            asked = {"space": _SPACE, "name": self._executor}
            lock = text("SELECT pg_try_advisory_lock(:space, hashtext(:name))")
            if connection.execute(lock, asked).scalar():
                return connection
            connection.close()
        except SQLAlchemyError as why:
            raise told(why, place_of(self._url), sqlite=False) from None
        raise NameTaken(
            f"Another live bot goes by the name {self._executor}: give each replica a PERFSLEUTH_EXECUTOR of its own."
        )

    def _look(self) -> None:
        while not self._ended.wait(_LOOK_S):
            try:
                self._connection.execute(text("SELECT 1"))
            except SQLAlchemyError:
                self._again()

    def _again(self) -> None:
        self._close()
        try:
            self._connection = self._take()
        except StoreError as why:
            _LOG.error("the lock of this bot was lost and cannot be taken again: %s", why)

    def _close(self) -> None:
        try:
            self._connection.close()
        except SQLAlchemyError:
            _LOG.debug("the connection of the lock was gone already")
