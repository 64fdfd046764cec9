"""Every change made in doubt, so that both arms of an undecided branch can be taken and joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tools.provenance.values import MISSING, OPTIONS, Record, Unknown, Value

Spot = tuple[int, Any]
_WHOLE = object()  # the key of a list or set: they are kept as a whole


@dataclass(slots=True)
class Delta:
    """What the objects hold after one arm, and the objects themselves."""

    after: dict[Spot, Value] = field(default_factory=dict)
    before: dict[Spot, Value] = field(default_factory=dict)
    places: dict[Spot, tuple[Any, Any]] = field(default_factory=dict)


def _read(container: Any, key: Any) -> Value:
    if key is not _WHOLE:
        return container.get(key, MISSING)
    return list(container) if isinstance(container, list) else set(container)


def _write(container: Any, key: Any, value: Value) -> None:
    if key is _WHOLE:
        container.clear()
        (container.extend if isinstance(container, list) else container.update)(value)
    elif value is MISSING:
        container.pop(key, None)
    else:
        container[key] = value


class Trail:
    """A log of old values; it grows only while at least one branch is open."""

    def __init__(self) -> None:
        self.open = 0
        self._log: list[tuple[Any, Any, Value]] = []

    def mark(self) -> int:
        """Return the present end of the log."""
        return len(self._log)

    def set(self, container: dict[Any, Value], key: Value, value: Value) -> None:
        """Put an entry, keeping the old one while a branch is open."""
        if self.open:
            self._log.append((container, key, container.get(key, MISSING)))
        container[key] = value

    def drop(self, container: dict[Any, Value], key: Value) -> Value:
        """Take an entry away and return it."""
        if self.open:
            self._log.append((container, key, container.get(key, MISSING)))
        return container.pop(key)

    def touch(self, container: Any) -> None:
        """Keep a list, set or dict as it is before it changes as a whole."""
        if not self.open:
            return
        if isinstance(container, dict):
            self._log.extend((container, key, value) for key, value in container.items())
        else:
            self._log.append((container, _WHOLE, _read(container, _WHOLE)))

    def since(self, mark: int) -> Delta:
        """Return what has changed since a mark."""
        delta = Delta()
        for container, key, old in self._log[mark:]:
            spot = (id(container), id(key) if key is _WHOLE else key)
            if spot not in delta.before:
                delta.before[spot] = old
                delta.places[spot] = (container, key)
        for spot, (container, key) in delta.places.items():
            delta.after[spot] = _read(container, key)
        return delta

    def undo(self, mark: int) -> None:
        """Put everything back as it was at a mark."""
        while len(self._log) > mark:
            container, key, old = self._log.pop()
            _write(container, key, old)

    def put(self, container: Any, key: Any, value: Value) -> None:
        """Write a joined value, logged for the branches that are still open around it."""
        if self.open:
            self._log.append((container, key, _read(container, key)))
        _write(container, key, value)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let changes stay whatever becomes of the open branches: a module is followed once for all."""
        kept = self.open, self._log
        self.open, self._log = 0, []
        try:
            yield
        finally:
            self.open, self._log = kept

    def close(self) -> None:
        """End a branch; the log is emptied when it was the last."""
        self.open -= 1
        if not self.open:
            self._log.clear()


def joined(trail: Trail, deltas: Iterable[Delta], why: tuple[str, ...]) -> None:
    """Make the state one that is true after any of the arms; it must be as before all of them."""
    arms = list(deltas)
    places = {spot: place for arm in arms for spot, place in arm.places.items()}
    for spot, (container, key) in places.items():
        base = next(arm.before[spot] for arm in arms if spot in arm.before)
        values = [arm.after.get(spot, base) for arm in arms]
        if key is _WHOLE:
            trail.put(container, key, _joined_whole(values, why))
        else:
            trail.put(container, key, either(values, why))


def same(one: Value, other: Value) -> bool:
    """Whether two values are surely the same one."""
    if one is other:
        return True
    try:
        return type(one) is type(other) and bool(one == other) and not isinstance(one, Unknown)
    except (TypeError, RecursionError):
        return False


def either(values: Iterable[Value], why: tuple[str, ...]) -> Value:
    """Return the one value that all are, or an unknown that can be any of them."""
    options: list[Value] = []
    reasons, open_ended = list(why), False
    for value in values:
        if isinstance(value, Unknown):
            reasons += value.why
            open_ended = open_ended or value.options is None
        for option in value.options or () if isinstance(value, Unknown) else (value,):
            if not any(same(option, known) for known in options):
                options.append(option)
    if len(options) == 1 and not open_ended:
        return options[0]
    return Unknown(tuple(reasons), None if open_ended or len(options) > OPTIONS else tuple(options))


def _joined_whole(values: list[Value], why: tuple[str, ...]) -> Value:
    first = values[0]
    if all(same(first, other) for other in values[1:]):
        return first
    if isinstance(first, set):
        return {Unknown(why)} | set.intersection(*values)
    common = 0
    while all(len(v) > common and same(v[common], first[common]) for v in values):
        common += 1
    return first[:common] + [_perhaps(item, why) for v in values for item in v[common:]]


def _perhaps(item: Value, why: tuple[str, ...]) -> Value:
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], Record):
        weak = Record(item[1])
        for key, value in weak.items():
            weak[key] = either((value, MISSING), why)
        return (item[0], weak)
    return Unknown(why, (item,))
