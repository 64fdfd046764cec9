"""Enumerations: classes whose attributes are their only objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.provenance.raising import raised
from tools.provenance.values import (
    MISSING,
    Class,
    Descriptor,
    Extern,
    Function,
    Instance,
    Native,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from tools.provenance.machine import Machine

_BASES = frozenset(("enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"))
_AUTO = Extern("enum.auto()")


def is_enumeration(cls: Class) -> bool:
    """Whether a class extends one of the language's enumerations."""
    return any(path in _BASES for path in cls.outside())


def _mixed_in(cls: Class) -> bool:
    natives = [b.name for each in cls.lineage() for b in each.bases if isinstance(b, Native)]
    whole = {"enum.IntEnum", "enum.StrEnum", "enum.IntFlag"} & set(cls.outside())
    return bool(whole) or "str" in natives or "int" in natives


def make_members(machine: Machine, cls: Class) -> None:
    """Turn the plain attributes of an enumeration into its members."""
    cls.members = {}
    mixed, text = _mixed_in(cls), "enum.StrEnum" in cls.outside()
    for name, value in list(cls.attrs.items()):
        if name.startswith("_") or isinstance(value, (Function, Descriptor, Class)):
            continue
        if value == _AUTO:
            value = name.lower() if text else len(cls.members) + 1
        member = Instance(cls, value if mixed else MISSING)
        member.attrs.update(name=name, value=value, _name_=name, _value_=value)
        cls.members[name] = member
        cls.attrs[name] = member
        hook = cls.find("__init__")
        if isinstance(hook, Function):
            parts = list(value) if isinstance(value, tuple) else [value]
            machine.call(hook, [member, *parts], machine.nothing())


def member_of(cls: Class, value: Value) -> Value:
    """Return Cls(value); raise Raised(ValueError) where no member has it."""
    if isinstance(value, Unknown):
        return Unknown(value.why, tuple((cls.members or {}).values()))
    for member in (cls.members or {}).values():
        if value is member or member.attrs["value"] == value:
            return member
    raise raised("ValueError", f"{value!r} is not a valid {cls.name}")
