"""What can go wrong with the store, in sentences that hold no password.

ToolsError
  StoreError   the database cannot be opened, read or written
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from tools.errors import ToolsError

_SQLITE = (
    # What SQLite says (sqlite3.c, sqlite3ErrStr) and what a person can do about it.
    ("disk is full", "The disk that holds {place} is full: make room there."),
    ("malformed", "{place} is damaged: put a backup in its place, or move it away to begin anew."),
    ("not a database", "{place} is no SQLite database: name another file in {variable}."),
    ("readonly", "{place} cannot be written: let the bot's user write the file and its folder."),
    (
        "unable to open",
        "{place} cannot be opened: let the bot's user write the file and its folder.",
    ),
    ("locked", "{place} is held by another process: end that process."),
    ("disk i/o", "{place} cannot be read or written: look at the disk that holds it."),
)
_VARIABLE = "PERFSLEUTH_DATABASE_URL"


class StoreError(ToolsError):
    """The database cannot be opened, read or written."""


def place_of(url: URL) -> str:
    """Name a database without its user and password."""
    if url.get_backend_name() == "sqlite":
        return str(Path(url.database or "").absolute())
    at = url.host or str(url.query.get("host", "the local socket"))
    return f"The database {url.database or ''} at {at}{f':{url.port}' if url.port else ''}"


def told(why: SQLAlchemyError, place: str, *, sqlite: bool) -> StoreError:
    """Turn what the library says into one sentence; its own text may hold rows and addresses."""
    if not sqlite:
        if isinstance(why, DBAPIError) and not _lost(why):
            return StoreError(f"{place} refused a statement ({_kind(why)}): look into its log.")
        return StoreError(f"{place} does not answer: start it, or correct {_VARIABLE}.")
    said = str(why.orig).lower() if isinstance(why, DBAPIError) else ""
    for part, sentence in _SQLITE:
        if part in said:
            return StoreError(sentence.format(place=place, variable=_VARIABLE))
    return StoreError(f"{place} cannot be used ({_kind(why)}): name another in {_VARIABLE}.")


def _lost(why: DBAPIError) -> bool:
    return why.connection_invalidated or _kind(why) in ("OperationalError", "InterfaceError")


def _kind(why: SQLAlchemyError) -> str:
    return type(why.orig if isinstance(why, DBAPIError) and why.orig else why).__name__
