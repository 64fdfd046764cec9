"""Attributes written and deleted: through the class's own hooks, then plainly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.provenance.values import (
    MISSING,
    Class,
    Descriptor,
    Function,
    Instance,
    Module,
    Record,
    Value,
)

if TYPE_CHECKING:
    from tools.provenance.machine import Machine


def set_attribute(machine: Machine, owner: Value, name: str, value: Value) -> None:
    """Carry out owner.name = value."""
    if isinstance(owner, Instance):
        hook = owner.cls.find("__setattr__")
        if isinstance(hook, Function):
            machine.call(hook, [owner, name, value], Record())
            return
        descriptor = owner.cls.find(name)
        if isinstance(descriptor, Descriptor) and descriptor.setter is not None:
            machine.call(descriptor.setter, [owner, value], Record())
            return
        plain_set(machine, owner, name, value)
    elif isinstance(owner, Class):
        if name == "__annotations__":
            owner.annotations = dict(value)
        machine.trail.set(owner.attrs, name, value)
    elif isinstance(owner, Function):
        machine.trail.set(owner.attrs, name, value)
    elif isinstance(owner, Module):
        machine.trail.set(owner.names, name, value)


def plain_set(machine: Machine, owner: Instance, name: str, value: Value) -> None:
    """Set an attribute as object.__setattr__ does, and tell the journal."""
    before = owner.attrs.get(name, MISSING)
    machine.trail.set(owner.attrs, name, value)
    machine.journal.attribute_set(owner, name, before, value)


def drop(machine: Machine, owner: Value, name: str) -> None:
    """Carry out del owner.name."""
    if isinstance(owner, Instance) and name in owner.attrs:
        machine.trail.drop(owner.attrs, name)
