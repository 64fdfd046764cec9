"""What happened to the server's arguments while the source was followed: every write, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tools.provenance.trail import either
from tools.provenance.values import MISSING, Function, Instance, Place, Record, Unknown, Value

if TYPE_CHECKING:
    from tools.provenance.machine import Machine
    from tools.provenance.scope import Frame

SUBJECT = "ServerArgs"
STASH = "_resolved_overrides"  # where declared decisions are kept, 0.5.15 and later


@dataclass(frozen=True, slots=True)
class Event:
    """One write of a field: where, what, by which declared name; `doubt` where it may not have been."""

    field: str
    value: Value
    before: Value
    place: Place
    source: str | None
    doubt: tuple[str, ...]
    entry: Place | None = None  # the entry of a rule table that led to it
    rule: str = ""


@dataclass(slots=True)
class _Turn:
    frame: Any
    value: Value


class Journal:
    """The record that is resolved, and what was written to it."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.subject: Instance | None = None
        self.raw: dict[str, Value] = {}
        self.fields: set[str] = set()
        self.events: list[Event] = []
        self.tests: dict[tuple[str, int, int], bool | Unknown] = {}
        self.reached: set[tuple[str, str]] = set()  # functions that were followed: path and name
        self._turns: list[_Turn] = []
        self._seen = 0  # entries of the stash that were told already

    def constructed(self, made: Instance) -> None:
        """Note the first record of arguments; copies and drafts that come later are none."""
        if self.subject is None and made.cls.name == SUBJECT:
            self.subject = made
            self.raw = dict(made.attrs)
            self.fields = set(made.attrs)

    def attribute_set(self, owner: Instance, name: str, before: Value, value: Value) -> None:
        """Note obj.name = value, if obj is the record or an object inside one of its fields."""
        if self.subject is None or not self.machine.stack:
            return
        if owner is self.subject:
            if name in self.fields and not self._decided(name, value):
                self._note(name, value, before, self._here(), None)
            elif name == STASH:
                self._seen = 0 if not isinstance(value, list) else min(self._seen, len(value))
                self._tell_stash(value)
            return
        if before is MISSING or owner.cls.fields is None:
            return  # only records nest in records
        field = self._field_of(owner)
        if field is not None:
            self._note(f"{field}.{name}", value, before, self._here(), None)

    def item_set(self, owner: dict[Value, Value], key: Value) -> None:
        """Note an entry of a dict that is a field."""

    def row_grew(self, row: Value) -> None:
        """Note decisions that were appended to the stash."""
        if self.subject is not None and row is self.subject.attrs.get(STASH):
            self._tell_stash(row)

    def _tell_stash(self, stash: Value) -> None:
        if not isinstance(stash, list):
            return
        for position in range(self._seen, len(stash)):
            entry = stash[position]
            if isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[1], dict):
                self._tell_decision(entry[0], entry[1], stash[:position])
        self._seen = len(stash)

    def _tell_decision(self, source: Value, fields: dict[Value, Value], earlier: Value) -> None:
        born = getattr(fields, "born", {})
        for name, value in list(fields.items()):
            before = self.read(name, earlier)
            perhaps = isinstance(value, Unknown) and MISSING in (value.options or ())
            if perhaps:
                kept = [option for option in value.options if option is not MISSING]
                fields[name] = either([*kept, before], value.why)
            named = source if isinstance(source, str) else None
            more = value.why if perhaps else ()
            for place, why in _places(born.get(name) or self._here()):
                self._note(name, fields[name], before, place, named, (*more, *why))

    def read(self, name: str, stash: Value) -> Value:
        """Return what a field is after these decisions."""
        for _, fields in reversed(stash):
            if name in fields:
                return fields[name]
        return self.subject.attrs.get(name, MISSING) if self.subject else MISSING

    def _decided(self, name: str, value: Value) -> bool:
        """Whether a write only puts a declared decision in its place."""
        stash = self.subject.attrs.get(STASH) if self.subject else None
        if not isinstance(stash, list):
            return False
        last = next(
            (e[1][name] for e in reversed(stash) if isinstance(e, tuple) and name in e[1]), MISSING
        )
        return last is value and last is not MISSING

    def _field_of(self, owner: Instance) -> str | None:
        if self.subject is None:
            return None
        for held in (*reversed(self._decisions()), self.subject.attrs):
            for name, value in held.items():
                if isinstance(value, Instance) and name in self.fields and _holds(value, owner):
                    return name
        return None

    def _decisions(self) -> list[dict[str, Value]]:
        stash = self.subject.attrs.get(STASH) if self.subject else None
        return [e[1] for e in stash if isinstance(e, tuple)] if isinstance(stash, list) else []

    def _here(self) -> Place:
        stack = self.machine.stack
        frame = next((f for f in reversed(stack) if not _sets(f)), stack[-1])
        return self.machine.place(frame, frame.line)

    def _note(
        self,
        name: str,
        value: Value,
        before: Value,
        place: Place,
        source: str | None,
        more: tuple[str, ...] = (),
    ) -> None:
        doubt = tuple(dict.fromkeys([w for why in self.machine.doubt for w in why] + list(more)))
        entry, rule = self._table_entry()
        event = Event(name, value, before, place, source, doubt, entry, rule)
        last = self.events[-1] if self.events else None
        if last is None or not _again(last, event):
            self.events.append(event)

    # Rule tables: `for name, predicate in rules: if predicate(): ...`

    def turn(self, frame: Frame, value: Value) -> None:
        """Remember the pair that a loop is at; None when it has ended."""
        self._turns = [t for t in self._turns if t.frame is not frame][-8:]
        if isinstance(value, tuple):
            self._turns.append(_Turn(frame, value))

    def _table_entry(self) -> tuple[Place | None, str]:
        for turn in reversed(self._turns):
            if turn.frame is self.machine.stack[-1]:
                for part in turn.value:
                    if isinstance(part, Function) and part.name == "<lambda>":
                        name = next((p for p in turn.value if isinstance(p, str)), "")
                        place = Place(part.scope.module.path, part.node.lineno)
                        return place, name
        return None, ""


def _again(last: Event, event: Event) -> bool:
    """Whether a write only repeats the one before it, as a loop does."""
    same_place = (last.place, last.entry, last.doubt) == (event.place, event.entry, event.doubt)
    return same_place and last.field == event.field and last.value is event.value


def _places(born: Value) -> list[tuple[Place, tuple[str, ...]]]:
    """Return where an entry was written: one place, or each that it may be."""
    if isinstance(born, Unknown):
        return [(each, born.why) for each in born.options or () if isinstance(each, Place)]
    return [(born, ())]


def _holds(value: Instance, part: Instance) -> bool:
    return value is part or any(inner is part for inner in value.attrs.values())


def _sets(frame: Frame) -> bool:
    return frame.function is not None and frame.function.name == "__setattr__"


def resolved(journal: Journal, name: str) -> Value:
    """Return a field's value at the end."""
    if journal.subject is None:
        return MISSING
    stash = journal.subject.attrs.get(STASH)
    final = journal.subject.attrs.get("_declarations_materialized") is True
    if isinstance(stash, list) and not final:
        return journal.read(name, [e for e in stash if isinstance(e, tuple)])
    return journal.subject.attrs.get(name, MISSING)


__all__ = ["Event", "Journal", "Record", "resolved"]
