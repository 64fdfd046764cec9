"""Lists, dicts and sets while source is followed: how they are filled and gone through."""

from __future__ import annotations

import ast

from tools.provenance import attributes, blocks, comprehensions, rows  # noqa: F401 - they register
from tools.provenance.core import Core
from tools.provenance.operators import LONGEST
from tools.provenance.raising import raised
from tools.provenance.values import (
    MISSING,
    Class,
    Extern,
    Function,
    Instance,
    Record,
    Unknown,
    Value,
)


class Containers(Core):
    """What a machine does with containers."""

    def set_item(self, owner: Value, key: Value, value: Value) -> None:
        """Carry out owner[key] = value."""
        if isinstance(owner, Instance):
            hook = owner.cls.find("__setitem__")
            if isinstance(hook, Function):
                self.call(hook, [owner, key, value], Record())
                return
            owner = owner.native
        if isinstance(owner, dict) and not isinstance(key, Unknown):
            self.trail.set(owner, self.hashable(key), value)
            if isinstance(owner, Record) and self.stack:
                self.trail.set(owner.born, key, self.place(self.stack[-1], self.stack[-1].line))
            self.journal.item_set(owner, key)
        elif isinstance(owner, list) and isinstance(key, (int, slice)):
            self.trail.touch(owner)
            try:
                owner[key] = value
            except (IndexError, TypeError, ValueError):
                raise raised("IndexError") from None

    def drop_item(self, owner: Value, key: Value) -> None:
        """Carry out del owner[key]."""
        owner = owner.native if isinstance(owner, Instance) else owner
        if isinstance(owner, dict) and key in owner:
            self.trail.drop(owner, key)

    def hashable(self, key: Value) -> Value:
        """Return a key; raise Raised(TypeError) where it can be none."""
        try:
            hash(key)
        except TypeError:
            raise raised("TypeError", "unhashable") from None
        return key

    def as_set(self, values: list[Value]) -> set[Value]:
        """Return a set of values."""
        return {self.hashable(value) for value in values}

    def merge(self, record: dict[Value, Value], other: Value) -> None:
        """Carry out record.update(other), keeping where the entries were written."""
        other = other.native if isinstance(other, Instance) else other
        if isinstance(other, (Unknown, Extern)):
            return
        pairs = other.items() if isinstance(other, dict) else self.iterated(other)
        born = getattr(other, "born", {})
        for key, value in pairs:
            self.trail.set(record, self.hashable(key), value)
            if isinstance(record, Record) and key in born:
                self.trail.set(record.born, key, born[key])
            self.journal.item_set(record, key)

    def iterated(self, value: Value) -> list[Value]:
        """Return the elements of a row; one unknown where it is not known."""
        if isinstance(value, (list, tuple)):
            return list(value)
        if isinstance(value, (str, dict, set, frozenset, bytes)):
            return sorted(value, key=repr) if isinstance(value, (set, frozenset)) else list(value)
        if isinstance(value, Class) and value.members is not None:
            return list(value.members.values())
        if isinstance(value, Instance):
            return self._iterated_instance(value)
        if isinstance(value, (Unknown, Extern)):
            return [Unknown(value.why if isinstance(value, Unknown) else (value.path,))]
        raise raised("TypeError", "not iterable")

    def _iterated_instance(self, value: Instance) -> list[Value]:
        if value.native is not MISSING:
            return self.iterated(value.native)
        hook = value.cls.find("__iter__")
        if hook is MISSING:
            return [Unknown((f"the elements of a {value.cls.name}",))]
        return self.iterated(self.call(hook, [value], Record()))

    def extended(self, kind: type[ast.operator], before: Value, more: Value) -> bool:
        """Carry out += on a list (or |= on a set or dict) in place; False where it is none."""
        if kind is ast.Add and isinstance(before, list) and not isinstance(more, Unknown):
            self.trail.touch(before)
            before.extend(self.iterated(more)[: LONGEST - len(before)])
            self.journal.row_grew(before)
            return True
        if kind is ast.BitOr and isinstance(before, dict):
            self.merge(before, more)
            return True
        return False
