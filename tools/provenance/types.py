"""Classes: how they are made, what their objects are made of, and types with arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.provenance.enumerations import is_enumeration, make_members, member_of
from tools.provenance.forks import Arm, finish
from tools.provenance.raising import EXCEPTIONS, raised
from tools.provenance.records import STRUCT, construct, declare_fields, evaluated
from tools.provenance.scope import Frame
from tools.provenance.values import (
    MISSING,
    Alias,
    Class,
    Extern,
    Function,
    Instance,
    Native,
    Record,
    Super,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from tools.provenance.machine import Machine

_NATIVES = {
    "str": str,
    "int": int,
    "float": float,
    "dict": Record,
    "list": list,
    "set": set,
    "tuple": tuple,
}


class Types:
    """What the language does with classes, for one machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def new_class(
        self, frame: Frame, name: str, bases: list[Value], body: Arm, options: dict[str, Value]
    ) -> Class:
        """Carry out a class statement."""
        outer = f"{frame.cls.qualname}." if frame.cls else ""
        kept = tuple(b.origin if isinstance(b, Alias) else b for b in bases)
        cls = Class(name, kept, {}, outer + name)
        inner = Frame(self.machine, frame.module, frame, cls.attrs)
        inner.cls, inner.line, inner.function = cls, frame.line, frame.function
        try:
            body(inner)
        finally:
            finish(inner)
        self._complete(cls, options)
        return cls

    def _complete(self, cls: Class, options: dict[str, Value]) -> None:
        for name, value in list(cls.attrs.items()):
            if isinstance(value, Instance):
                hook = value.cls.find("__set_name__")
                if hook is not MISSING:
                    self.machine.call(hook, [value, cls, name], Record())
        if is_enumeration(cls):
            make_members(self.machine, cls)
        elif STRUCT in cls.outside() or any(base.fields is not None for base in cls.lineage()[1:]):
            declare_fields(cls)
        hook = next((b.find("__init_subclass__") for b in cls.lineage()[1:2]), MISSING)
        if isinstance(hook, Function):
            self.machine.call(hook, [cls], Record(options))

    def make(self, cls: Class, args: list[Value], keywords: Record) -> Value:
        """Carry out Cls(...)."""
        if cls.members is not None:
            return member_of(cls, args[0]) if args else Unknown((cls.name,))
        hook = cls.find("__new__")
        if isinstance(hook, Function):
            made = self.machine.call(hook, [cls, *args], keywords)
            if not isinstance(made, Instance):
                return made
        else:
            made = Instance(cls, self._native_value(cls, args))
        self._initialise(made, args, keywords)
        return made

    def _initialise(self, made: Instance, args: list[Value], keywords: Record) -> None:
        hook = made.cls.find("__init__")
        if hook is not MISSING:
            self.machine.call(hook, [made, *args], keywords)
        elif made.cls.fields is not None:
            construct(self.machine, made, args, keywords)
        elif EXCEPTIONS["BaseException"] in made.cls.lineage():
            made.attrs["args"] = tuple(args)
        elif made.cls.outside():
            base = self.machine.outside.constructor(made.cls.outside())
            if base is not None:
                base(self.machine, [made, *args], keywords)

    def native_of(self, cls: Class) -> str | None:
        """Return the name of the ordinary type that a class extends, if it does."""
        for each in cls.lineage():
            for base in each.bases:
                if isinstance(base, Native) and base.name in _NATIVES:
                    return base.name
        return None

    def _native_value(self, cls: Class, args: list[Value]) -> Value:
        name = self.native_of(cls)
        if name is None:
            return MISSING
        if name in ("dict", "list", "set"):
            return _NATIVES[name]()
        return args[0] if args and isinstance(args[0], _NATIVES[name]) else _NATIVES[name]()

    def annotations(self, cls: Class) -> Record:
        """Return Cls.__annotations__ with the types evaluated."""
        return Record({n: evaluated(self.machine, a) for n, a in cls.annotations.items()})

    def subscripted(self, owner: Value, key: Value) -> Value:
        """Return owner[key] of a class or type: a member, or a type with arguments."""
        if isinstance(owner, Class) and owner.members is not None:
            return self._member(owner, key)
        if isinstance(owner, Class):
            hook = owner.find("__class_getitem__")
            if isinstance(hook, Function):
                return self.machine.call(hook, [owner, key], Record())
        if isinstance(owner, Extern) and not owner.path.startswith(("typing.", "collections.")):
            return Unknown((f"{owner.path}[...]",))
        args = key if isinstance(key, tuple) else (key,)
        if owner == Extern("typing.Optional"):
            return Alias(Extern("typing.Union"), (*args, None))
        return Alias(self.machine.outside.generic(owner), args)

    def _member(self, owner: Class, key: Value) -> Value:
        members = owner.members or {}
        if isinstance(key, Unknown):
            return Unknown(key.why, tuple(members[o] for o in key.options or () if o in members))
        if key not in members:
            raise raised("KeyError", key)
        return members[key]

    def base_method(self, owner: Super, name: str) -> Value:
        """Return super().name where the base is the language's own or outside."""
        receiver = owner.receiver
        if name == "__init__":
            outside = owner.cls.outside()
            base = self.machine.outside.constructor(outside)
            return Native(name, self._init(receiver, base), lenient=True)
        if isinstance(receiver, Instance) and receiver.native is not MISSING:
            return self.machine.attribute(receiver.native, name)
        if name in ("__setattr__", "__getattribute__", "__init_subclass__", "__post_init__"):
            return self.machine.object_method(receiver, name)
        return Native(name, lambda *_: Unknown((f"super().{name}",)), lenient=True)

    def _init(self, receiver: Value, base: Value) -> Value:
        def call(machine: Machine, args: list[Value], keywords: Record) -> None:
            if base is not None:
                base(machine, [receiver, *args], keywords)
            elif isinstance(receiver, Instance) and isinstance(receiver.native, dict):
                for other in args:
                    machine.merge(receiver.native, other)
            elif isinstance(receiver, Instance):
                receiver.attrs.setdefault("args", tuple(args))

        return call
