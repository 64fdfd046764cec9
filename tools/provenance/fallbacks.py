"""Declared fallbacks: values that a field takes when neither the command line nor a rule gave one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tools.provenance.journal import Event
from tools.provenance.records import evaluated
from tools.provenance.values import MISSING, Alias, Instance, Place, Value

if TYPE_CHECKING:
    from tools.provenance.machine import Machine


def fallbacks(machine: Machine) -> dict[str, Value]:
    """Return the fallback of every field that declares one (0.5.20 and later)."""
    subject = machine.journal.subject
    found: dict[str, Value] = {}
    for field in (subject.cls.fields or ()) if subject else ():
        kind = evaluated(machine, field.type)
        for part in kind.args if isinstance(kind, Alias) else ():
            value = part.attrs.get("fallback") if isinstance(part, Instance) else None
            if value is not None:
                found[field.name] = value
    return found


def place_of(machine: Machine, name: str) -> Place | None:
    """Return the line on which a field's fallback is written."""
    for module in machine.imports.modules.values():
        if not module.started or "fallback" not in machine.tree.texts[module.path]:
            continue
        for node in ast.walk(machine.tree.parsed(module.path)):
            if isinstance(node, ast.AnnAssign) and _is_named(node.target, name):
                for part in ast.walk(node.annotation):
                    if isinstance(part, ast.keyword) and part.arg == "fallback":
                        return Place(module.path, part.value.lineno)
    return None


def _is_named(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Name) and target.id == name


def fallen_back(machine: Machine, values: dict[str, Value]) -> list[Event]:
    """Return a write for every field that is still unset at the end and has a fallback."""
    found = []
    for name, value in fallbacks(machine).items():
        if values.get(name, MISSING) is None:
            place = place_of(machine, name)
            if place is not None:
                found.append(Event(name, value, None, place, None, ()))
    return found
