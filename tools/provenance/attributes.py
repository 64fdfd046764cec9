"""Attributes: what obj.name is, for objects, classes, modules, and things outside the source."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tools.provenance.methods import method_of
from tools.provenance.operators import ERRORS, TYPES
from tools.provenance.raising import failure, raised
from tools.provenance.trail import either
from tools.provenance.understood import INHERITED
from tools.provenance.values import (
    MISSING,
    Alias,
    Bound,
    Class,
    Descriptor,
    Extern,
    Function,
    Instance,
    Module,
    Native,
    Raised,
    Record,
    Super,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from tools.provenance.machine import Machine

_KNOWN_BASES = ("typing.", "abc.", "enum.", "msgspec.", "builtins.", "dataclasses.", "argparse.")


def attribute(machine: Machine, owner: Value, name: str) -> Value:
    """Return owner.name; raise Raised(AttributeError) where the source would."""
    value = found(machine, owner, name)
    if value is MISSING:
        raise raised("AttributeError", f"{type(owner).__name__} has no {name!r}")
    return value


def found(machine: Machine, owner: Value, name: str) -> Value:
    """Return owner.name, or MISSING where there surely is no such attribute."""
    look = _LOOKS.get(type(owner), _of_other)
    return look(machine, owner, name)


def _of_module(machine: Machine, owner: Module, name: str) -> Value:
    return machine.imports.member(owner, name)


def _of_extern(machine: Machine, owner: Extern, name: str) -> Value:
    return machine.outside.attribute(f"{owner.path}.{name}")


def _of_unknown(machine: Machine, owner: Unknown, name: str) -> Value:
    if owner.options is None or MISSING in owner.options:
        return Unknown(owner.why)
    try:
        return either([attribute(machine, each, name) for each in owner.options], owner.why)
    except Raised:
        return Unknown(owner.why)


def _of_other(machine: Machine, owner: Value, name: str) -> Value:
    if (
        isinstance(owner, Native)
        and owner.name in TYPES
        and name not in ("__name__", "__qualname__")
    ):
        return _of_type(machine, owner, name)
    if isinstance(owner, (Function, Native, Bound)):
        return _of_function(owner, name)
    if isinstance(owner, Alias):
        names = {"__origin__": owner.origin, "__args__": owner.args}
        return names.get(name, MISSING)
    if name == "__class__":
        return machine.type_of(owner)
    return method_of(machine, owner, name)


def _of_type(machine: Machine, owner: Native, name: str) -> Value:
    if owner.name == "object":
        return Extern(f"builtins.object.{name}")
    if name == "fromkeys":
        return Native(name, _from_keys, lenient=True)
    return machine.unbound(owner.name, name)


def _from_keys(machine: Machine, args: list[Value], _named: Record) -> Value:
    value = args[1] if len(args) > 1 else None
    return Record({machine.hashable(key): value for key in machine.iterated(args[0])})


def _of_function(owner: Function | Native | Bound, name: str) -> Value:
    inner = owner.function if isinstance(owner, Bound) else owner
    if isinstance(inner, Function) and name in inner.attrs:
        return inner.attrs[name]
    if name in ("__name__", "__qualname__"):
        return getattr(inner, "qualname", inner.name) if name == "__qualname__" else inner.name
    if name in ("cache_clear", "cache_info"):
        return Native(name, lambda *_: None)
    doc = getattr(inner, "doc", None)
    return {"__wrapped__": inner, "__doc__": doc, "__module__": ""}.get(name, MISSING)


def _of_instance(machine: Machine, owner: Instance, name: str) -> Value:
    from_class = owner.cls.find(name)
    if isinstance(from_class, Descriptor) and from_class.kind == "property":
        return machine.call(from_class.function, [owner], Record())
    value = owner.attrs.get(name, MISSING)
    if value is not MISSING:
        return _if_there(value)
    if from_class is not MISSING:
        return _from_class(machine, owner, from_class, name)
    return _fallen_back(machine, owner, name)


def _if_there(value: Value) -> Value:
    perhaps = isinstance(value, Unknown) and value.options and MISSING in value.options
    return Unknown(value.why) if perhaps else value


def _from_class(machine: Machine, owner: Instance, value: Value, name: str) -> Value:
    if isinstance(value, Descriptor) and value.kind == "cached_property":
        made = machine.call(value.function, [owner], Record())
        machine.trail.set(owner.attrs, name, made)
        return made
    return bind_to(value, owner, owner.cls)


def bind_to(value: Value, receiver: Value, cls: Class) -> Value:
    """Return a class attribute as it is seen from an object of the class."""
    if isinstance(value, (Function, Native)):
        return Bound(value, receiver)
    if isinstance(value, Descriptor):
        if value.kind == "staticmethod":
            return value.function
        return Bound(value.function, cls)
    return value


def _fallen_back(machine: Machine, owner: Instance, name: str) -> Value:
    if name == "__class__":
        return owner.cls
    if name == "__dict__":
        return owner.attrs
    hook = owner.cls.find("__getattr__")
    if hook is not MISSING:
        try:
            return machine.call(hook, [owner, name], Record())
        except Raised as error:
            if machine.is_error(error, "AttributeError"):
                return MISSING
            raise
    if owner.native is not MISSING:
        return method_of(machine, owner.native, name)
    return inherited(owner.cls, name)


def inherited(cls: Class, name: str) -> Value:
    """Return what a base outside the source may give: unknown, or surely nothing."""
    for path in cls.outside():
        package = path.split(".", 1)[0]
        if package in INHERITED:
            return INHERITED[package](cls, name)
        if not path.startswith(_KNOWN_BASES):
            return Unknown((f"{path}.{name}",))
    return MISSING


def _of_class(machine: Machine, owner: Class, name: str) -> Value:
    value = owner.find(name)
    if value is not MISSING:
        if isinstance(value, Descriptor):
            classmethod_ = value.kind == "classmethod"
            return Bound(value.function, owner) if classmethod_ else _static(value)
        return value
    return _of_class_itself(machine, owner, name)


def _static(value: Descriptor) -> Value:
    return value.function if value.kind == "staticmethod" else value


def _of_class_itself(machine: Machine, owner: Class, name: str) -> Value:
    told = _ITSELF.get(name)
    if told is not None:
        return told(machine, owner)
    base = machine.types.native_of(owner)
    return machine.unbound(base, name) if base is not None else inherited(owner, name)


_ITSELF: dict[str, Callable[[Machine, Class], Value]] = {
    "__name__": lambda _machine, owner: owner.name,
    "__qualname__": lambda _machine, owner: owner.qualname,
    "__dict__": lambda _machine, owner: Record(owner.attrs),
    "__mro__": lambda _machine, owner: owner.lineage(),
    "__annotations__": lambda machine, owner: machine.types.annotations(owner),
    "__members__": lambda _machine, owner: dict(owner.members or {}),
}


def _of_super(machine: Machine, owner: Super, name: str) -> Value:
    receiver = owner.receiver
    cls = receiver if isinstance(receiver, Class) else receiver.cls
    line = cls.lineage()
    later = line[line.index(owner.cls) + 1 :] if owner.cls in line else ()
    for each in later:
        if name in each.attrs:
            return bind_to(each.attrs[name], receiver, cls)
    return machine.types.base_method(owner, name)


_LOOKS: dict[type, Callable[..., Value]] = {
    Instance: _of_instance,
    Class: _of_class,
    Module: _of_module,
    Extern: _of_extern,
    Unknown: _of_unknown,
    Super: _of_super,
}


def item(machine: Machine, owner: Value, key: Value) -> Value:
    """Return owner[key]; raise Raised where the source would."""
    if isinstance(owner, Unknown):
        if owner.options is None or MISSING in owner.options:
            return Unknown(owner.why)
        return either([item(machine, each, key) for each in owner.options], owner.why)
    if isinstance(owner, (Class, Extern, Alias, Native)):
        return machine.types.subscripted(owner, key)
    if isinstance(key, Unknown):
        return Unknown(key.why)
    if isinstance(owner, Instance):
        if owner.native is MISSING:
            return machine.call(attribute(machine, owner, "__getitem__"), [key], Record())
        owner = owner.native
    return _looked_up(owner, key)


def _looked_up(owner: Value, key: Value) -> Value:
    try:
        value = owner[key]
    except ERRORS as error:
        raise failure(error) from None
    return _if_there(value)
