"""dataclasses, msgspec and typing: how records and types are declared and looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.provenance.functions import copied
from tools.provenance.raising import raised
from tools.provenance.records import (
    ABSENT,
    declare_fields,
    defined_struct,
    field_from,
    shown_fields,
)
from tools.provenance.understood import INITS, known
from tools.provenance.values import (
    MISSING,
    Alias,
    Class,
    Instance,
    Native,
    Record,
    Unknown,
    Value,
)
from tools.provenance.writing import plain_set

if TYPE_CHECKING:
    from tools.provenance.machine import Machine


@known("dataclasses.dataclass")
def _dataclass(machine: Machine, args: list[Value], named: Record) -> Value:
    if not args:
        return Native("dataclass", lambda m, inner, _n: _dataclass(m, inner, named), lenient=True)
    cls = args[0]
    if isinstance(cls, Class):
        declare_fields(cls)
    del machine
    return cls


@known("dataclasses.field", "msgspec.field")
def _field(_machine: Machine, _args: list[Value], named: Record) -> Value:
    return field_from(named)


@known("dataclasses.fields")
def _fields(machine: Machine, args: list[Value], _named: Record) -> Value:
    return shown_fields(machine, args[0], ABSENT[0])


@known("msgspec.structs.fields")
def _struct_fields(machine: Machine, args: list[Value], _named: Record) -> Value:
    return shown_fields(machine, args[0], ABSENT[1])


@known("msgspec.defstruct")
def _defstruct(machine: Machine, args: list[Value], named: Record) -> Value:
    return defined_struct(machine, args, named)


@known("dataclasses.is_dataclass")
def _is_dataclass(_machine: Machine, args: list[Value], _named: Record) -> Value:
    cls = args[0].cls if isinstance(args[0], Instance) else args[0]
    return (
        isinstance(cls, Class) and cls.fields is not None and "msgspec.Struct" not in cls.outside()
    )


@known("dataclasses.asdict", "msgspec.structs.asdict")
def _asdict(machine: Machine, args: list[Value], _named: Record) -> Value:
    made = args[0]
    if not isinstance(made, Instance):
        return Unknown(("asdict()",))
    names = [f.name for f in made.cls.fields or ()]
    return Record({n: copied(machine, made.attrs.get(n), {}) for n in names})


@known("dataclasses.replace", "msgspec.structs.replace")
def _replace(machine: Machine, args: list[Value], named: Record) -> Value:
    made = args[0]
    if not isinstance(made, Instance):
        return Unknown(("replace()",))
    fresh = Instance(made.cls, made.native)
    fresh.attrs.update({**made.attrs, **named})
    del machine
    return fresh


@known("msgspec.Struct.__setattr__", "builtins.object.__setattr__", "object.__setattr__")
def _object_set(machine: Machine, args: list[Value], _named: Record) -> Value:
    if isinstance(args[0], Instance):
        plain_set(machine, args[0], args[1], args[2])


@known("builtins.object.__getattribute__", "object.__getattribute__")
def _object_get(machine: Machine, args: list[Value], _named: Record) -> Value:
    owner, name = args
    if isinstance(owner, Instance) and name in owner.attrs:
        return owner.attrs[name]
    if isinstance(owner, Instance) and owner.cls.find(name) is not MISSING:
        return machine.attribute(owner, name)
    raise raised("AttributeError", f"no attribute {name!r}")


@known(
    "builtins.object.__init__", "builtins.object.__init_subclass__", "builtins.object.__post_init__"
)
def _object_init(_machine: Machine, _args: list[Value], _named: Record) -> Value:
    return None


@known("builtins.object.__new__", "object.__new__")
def _object_new(_machine: Machine, args: list[Value], _named: Record) -> Value:
    return Instance(args[0]) if args and isinstance(args[0], Class) else Unknown(("__new__()",))


INITS["builtins.object"] = lambda *_: None


@known("typing.get_type_hints")
def _hints(machine: Machine, args: list[Value], _named: Record) -> Value:
    cls = args[0]
    if not isinstance(cls, Class):
        return Record()
    hints = Record()
    for each in reversed(cls.lineage()):
        hints.update(machine.types.annotations(each))
    return hints


@known("typing.get_origin")
def _origin(_machine: Machine, args: list[Value], _named: Record) -> Value:
    return args[0].origin if isinstance(args[0], Alias) else None


@known("typing.get_args")
def _args(machine: Machine, args: list[Value], _named: Record) -> Value:
    if not isinstance(args[0], Alias):
        return ()
    none = machine.type_of(None)
    return tuple(none if value is None else value for value in args[0].args)
