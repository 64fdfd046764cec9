"""Where the jobs keep their own records: a file beside the store's, or the same PostgreSQL."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from bot.store.database import create_private, read_url
from bot.store.errors import StoreError


def jobs_url(url: str) -> str:
    """Return the address for DBOS, password and all; raise StoreError where no file can be made.

    On SQLite it is a file of its own, so that two libraries never wait for each other's writes.
    """
    place = read_url(url)
    if place.get_backend_name() != "sqlite":
        return place.set(drivername="postgresql").render_as_string(hide_password=False)
    path = Path(place.database or "")
    path = path.with_name(f"{path.stem}-jobs.sqlite")
    create_private(path)
    try:
        # DBOS leaves the mode of the journal alone, and the file remembers it: one fsync for two.
        connection = sqlite3.connect(path, timeout=20)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.close()
    except sqlite3.Error:
        raise StoreError(
            f"{path.absolute()} is no usable database: move it away, and it is made anew."
        ) from None
    return f"sqlite:///{path.absolute()}"
