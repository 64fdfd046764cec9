"""A room with a desk and a worker for each test."""

from tests.work.room import make_room, room

__all__ = ["make_room", "room"]
