"""A room with a desk and a worker for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.work.room import Room


@pytest.fixture
def make_room(tmp_path: Path) -> Iterator[Callable[..., Room]]:
    rooms: list[Room] = []

    def make(**settings: Any) -> Room:
        rooms.append(Room(tmp_path, **settings))
        return rooms[-1]

    yield make
    for room in rooms:
        room.store.close()


@pytest.fixture
def room(make_room: Callable[..., Room]) -> Room:
    return make_room()
