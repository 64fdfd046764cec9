"""What was fetched of the files that came with a message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bot.message import Message


@dataclass(frozen=True)
class Fetched:
    """Files by their place on our disk, under the names that people gave them.

    `troubles` are sentences on those that could not be had. `folder` holds nothing else and is
    removed when the files are read.
    """

    paths: tuple[Path, ...] = ()
    troubles: tuple[str, ...] = ()
    folder: Path | None = None


Fetch = Callable[[Message], Fetched]


def nothing(message: Message) -> Fetched:
    """Fetch nothing, where there is no platform to fetch from."""
    names = ", ".join(file.name for file in message.files)
    return Fetched(troubles=(f"{names} cannot be fetched here.",) if names else ())
