"""Methods that change a list, a set or a dict, with the trail and the journal told."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tools.provenance.operators import ERRORS, LONGEST
from tools.provenance.raising import failure
from tools.provenance.values import Record, Unknown, Value, because

if TYPE_CHECKING:
    from tools.provenance.machine import Machine


def changing(machine: Machine, owner: Value, name: str) -> Callable[..., Value]:
    """Return a method that changes its owner."""

    def call(_machine: Machine, args: list[Value], keywords: Record) -> Value:
        machine.trail.touch(owner)
        if isinstance(owner, dict):
            return _write_dict(machine, owner, name, args, keywords)
        try:
            result = _write_row(machine, owner, name, args, keywords)
        except ERRORS as error:
            raise failure(error) from None
        machine.journal.row_grew(owner)
        return result

    return call


def _write_row(
    machine: Machine, owner: Value, name: str, args: list[Value], keywords: Record
) -> Value:
    if name == "sort":
        owner[:] = machine.call(machine.builtin("sorted"), [owner], keywords)
        return None
    if name in ("extend", "update", "difference_update"):
        unknown = next((a for a in args if isinstance(a, Unknown)), None)
        rows = [unknown] if unknown else [v for a in args for v in machine.iterated(a)]
        rows = rows[: LONGEST - len(owner)]
        return getattr(owner, name)(rows)
    if name in ("add", "discard", "remove") and isinstance(owner, set):
        return getattr(owner, name)(machine.hashable(args[0]))
    if any(isinstance(a, Unknown) for a in args) and name in ("pop", "insert"):
        return because(*args)
    return getattr(owner, name)(*args)


def _write_dict(
    machine: Machine, owner: dict[Value, Value], name: str, args: list[Value], keywords: Record
) -> Value:
    if name == "update":
        for other in (*args, keywords):
            machine.merge(owner, other)
        return None
    if name == "clear":
        for key in list(owner):
            machine.trail.drop(owner, key)
        return None
    if name == "setdefault":
        return _set_default(machine, owner, args)
    if name == "move_to_end":
        return None
    key = machine.hashable(args[0]) if args else next(reversed(owner), None)
    return _popped(machine, owner, key, args)


def _set_default(machine: Machine, owner: dict[Value, Value], args: list[Value]) -> Value:
    default = args[1] if len(args) > 1 else None
    if isinstance(args[0], Unknown):
        return default
    key = machine.hashable(args[0])
    if key not in owner:
        machine.set_item(owner, key, default)
    return owner[key]


def _popped(machine: Machine, owner: dict[Value, Value], key: Value, args: list[Value]) -> Value:
    if key in owner:
        return machine.trail.drop(owner, key)
    if len(args) > 1:
        return args[1]
    raise failure(KeyError(key))
