"""Where fetched files lie until they are read; what a killed process left there the next one removes."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import threading
from pathlib import Path

_PREFIX = "perfsleuth-files-"


class Shelf:
    """One folder of a process below the system's temporary one, which nobody else can read.

    A lock on it ends with the process, in whatever way that ends; so a folder that can be locked
    has no owner any more. Making a shelf removes those of this user.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held: tuple[Path, int] | None = None
        for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            _remove_if_left(left)

    def folder(self) -> Path:
        """Return a new, empty folder."""
        with self._guard:
            if self._held is None or not self._held[0].is_dir():  # who tidies up there may take it
                self._held = _taken()
            return Path(tempfile.mkdtemp(dir=self._held[0]))

    def close(self) -> None:
        """Remove all of it."""
        with self._guard:
            if self._held is not None:
                shutil.rmtree(self._held[0], ignore_errors=True)
                os.close(self._held[1])
                self._held = None


def _taken() -> tuple[Path, int]:
    """Make a folder and lock it; another process may sweep it away in between."""
    while True:
        place = Path(tempfile.mkdtemp(prefix=_PREFIX))
        if (lock := _locked(place)) is not None:
            if place.is_dir():
                return place, lock
            os.close(lock)


def _remove_if_left(place: Path) -> None:
    if (lock := _locked(place)) is not None:
        shutil.rmtree(place, ignore_errors=True)
        os.close(lock)


def _locked(place: Path) -> int | None:
    """Lock a folder of ours; None where it is not ours, or lives."""
    try:
        folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if os.fstat(folder).st_uid == os.geteuid():
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return folder
    except BlockingIOError:
        pass
    os.close(folder)
    return None
