"""The language's own functions, on values that may be unknown: len, isinstance, getattr, sorted..."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tools.provenance import attributes
from tools.provenance.operators import ERRORS
from tools.provenance.raising import EXCEPTIONS, failure, raised
from tools.provenance.truth import is_flat, truth
from tools.provenance.values import (
    MISSING,
    Bound,
    Class,
    Descriptor,
    Extern,
    Function,
    Instance,
    Native,
    Record,
    Unknown,
    Value,
    because,
)

if TYPE_CHECKING:
    from tools.provenance.machine import Machine

LONGEST_RANGE = 200_000
BUILTINS: dict[str, Value] = dict(EXCEPTIONS)
PLAIN_TYPES: dict[str, Any] = {
    "str": str, "int": int, "float": float, "bool": bool, "bytes": bytes, "complex": complex,
}  # fmt: skip


def builtin(name: str, *, lenient: bool = True) -> Callable[[Callable[..., Value]], Any]:
    """Register a function of the language; `lenient`: it deals with unknown arguments itself."""

    def register(function: Callable[..., Value]) -> Callable[..., Value]:
        BUILTINS[name] = Native(name, function, lenient)
        return function

    return register


def plain(value: Value) -> Value:
    """Return the ordinary value of an object that extends str, int, dict and their kin."""
    return value.native if isinstance(value, Instance) and value.native is not MISSING else value


@builtin("len")
def _len(machine: Machine, args: list[Value], _named: Record) -> Value:
    value = args[0]
    if isinstance(value, Unknown):
        return Unknown(value.why)
    if isinstance(value, Class) and value.members is not None:
        return len(value.members)
    if isinstance(value, Instance) and value.native is MISSING:
        return machine.call(machine.attribute(value, "__len__"), [], Record())
    try:
        return len(plain(value))
    except TypeError as error:
        raise failure(error) from None


@builtin("getattr")
def _getattr(machine: Machine, args: list[Value], _named: Record) -> Value:
    owner, name = args[0], args[1]
    if isinstance(name, Unknown):
        return Unknown(name.why)
    value = attributes.found(machine, owner, plain(name))
    if value is not MISSING:
        return value
    if len(args) < 3:
        raise raised("AttributeError", f"no attribute {name!r}")
    return args[2]


@builtin("hasattr")
def _hasattr(machine: Machine, args: list[Value], _named: Record) -> Value:
    owner, name = args
    if isinstance(owner, Unknown) or isinstance(name, Unknown):
        return because(owner, name)
    if isinstance(owner, Extern):
        return machine.outside.has(owner.path, name)
    value = attributes.found(machine, owner, name)
    perhaps = isinstance(value, Unknown) and isinstance(owner, Instance) and name not in owner.attrs
    return Unknown(value.why) if perhaps else value is not MISSING


@builtin("setattr")
def _setattr(machine: Machine, args: list[Value], _named: Record) -> Value:
    owner, name, value = args
    if not isinstance(name, Unknown):
        machine.set_attribute(owner, plain(name), value)


@builtin("delattr")
def _delattr(machine: Machine, args: list[Value], _named: Record) -> Value:
    machine.drop_attribute(args[0], args[1])


@builtin("callable")
def _callable(_machine: Machine, args: list[Value], _named: Record) -> Value:
    value = args[0]
    if isinstance(value, (Unknown, Extern)):
        return Unknown(("whether a value can be called",))
    return isinstance(value, (Function, Native, Bound, Class)) or (
        isinstance(value, Instance) and value.cls.find("__call__") is not MISSING
    )


@builtin("type")
def _type(machine: Machine, args: list[Value], _named: Record) -> Value:
    if len(args) == 3:
        return Class(args[0], tuple(args[1]), dict(args[2]), args[0])
    return machine.type_of(args[0])


@builtin("vars")
def _vars(machine: Machine, args: list[Value], _named: Record) -> Value:
    return attributes.attribute(machine, args[0], "__dict__") if args else Unknown(("vars()",))


@builtin("super")
def _super(machine: Machine, args: list[Value], _named: Record) -> Value:
    return machine.super_between(args[0], args[1])


@builtin("id")
def _id(_machine: Machine, args: list[Value], _named: Record) -> Value:
    return id(args[0])


@builtin("hash")
def _hash(machine: Machine, args: list[Value], _named: Record) -> Value:
    return hash(machine.hashable(args[0]))


@builtin("print")
def _print(_machine: Machine, _args: list[Value], _named: Record) -> Value:
    return None


def _converting(name: str) -> None:
    kind = PLAIN_TYPES[name]

    def convert(_machine: Machine, args: list[Value], _named: Record) -> Value:
        value = plain(args[0]) if args else kind()
        if isinstance(value, Instance) and name == "str":
            return str(value.attrs.get("value", repr(value)))
        if name == "bytes" or not is_flat(value):
            return Unknown((f"{name}() of a value from outside",))
        try:
            return kind(value, *args[1:]) if len(str(args[1:])) < 99 else Unknown((name,))
        except ERRORS as error:
            raise failure(error) from None

    BUILTINS[name] = Native(name, convert)


for _each in ("str", "int", "float", "bytes", "complex"):
    _converting(_each)


@builtin("bool")
def _bool(_machine: Machine, args: list[Value], _named: Record) -> Value:
    return truth(args[0]) if args else False


@builtin("repr", lenient=False)
def _repr(_machine: Machine, args: list[Value], _named: Record) -> Value:
    return repr(args[0]) if is_flat(args[0]) else Unknown(("repr()",))


@builtin("object")
def _object(_machine: Machine, _args: list[Value], _named: Record) -> Value:
    return Instance(Class("object", (), {}, "object"))


@builtin("range", lenient=False)
def _range(_machine: Machine, args: list[Value], _named: Record) -> Value:
    try:
        numbers = range(*args)
    except ERRORS as error:
        raise failure(error) from None
    return list(numbers) if len(numbers) <= LONGEST_RANGE else Unknown(("a long range",))


@builtin("any")
def _any(machine: Machine, args: list[Value], _named: Record) -> Value:
    return _of_all(machine, args[0], decides=True)


@builtin("all")
def _all(machine: Machine, args: list[Value], _named: Record) -> Value:
    return _of_all(machine, args[0], decides=False)


def _of_all(machine: Machine, row: Value, *, decides: bool) -> Value:
    if isinstance(row, Unknown):
        return Unknown(row.why)
    doubt: Unknown | None = None
    for value in machine.iterated(row):
        answer = truth(value)
        if answer is decides:
            return decides
        doubt = answer if isinstance(answer, Unknown) else doubt
    return doubt or not decides


@builtin("iter")
def _iter(machine: Machine, args: list[Value], _named: Record) -> Value:
    return args[0] if isinstance(args[0], Unknown) else machine.iterated(args[0])


@builtin("next")
def _next(_machine: Machine, args: list[Value], _named: Record) -> Value:
    row = args[0]
    if isinstance(row, list):
        if row:
            return row[0]
        if len(args) > 1:
            return args[1]
        raise raised("StopIteration")
    return Unknown(("next()",))


for _name in ("staticmethod", "classmethod"):
    BUILTINS[_name] = Native(
        _name, lambda _m, args, _n, kind=_name: Descriptor(kind, args[0]), lenient=True
    )


@builtin("property")
def _property(_machine: Machine, args: list[Value], _named: Record) -> Value:
    return Descriptor("property", args[0] if args else None, args[1] if len(args) > 1 else None)
