"""A room with a desk and a worker, where a test asks for one."""

from tests.work.room import make_room, room

__all__ = ["make_room", "room"]
