"""Functions about functions and copies: functools, contextlib, copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.provenance.understood import known
from tools.provenance.values import (
    Bound,
    Class,
    Descriptor,
    Function,
    Instance,
    Native,
    Record,
    Value,
)

if TYPE_CHECKING:
    from tools.provenance.machine import Machine


@known("functools.lru_cache", "functools.cache", "functools.wraps", "functools.singledispatch")
def _decorator(_machine: Machine, args: list[Value], _named: Record) -> Value:
    if args and isinstance(args[0], (Function, Class, Bound)) and not _named:
        return args[0]
    return Native("decorator", lambda _m, inner, _n: inner[0], lenient=True)


@known("functools.wraps", "functools.update_wrapper")
def _wraps(_machine: Machine, args: list[Value], _named: Record) -> Value:
    original = args[0]

    def rename(_m: Machine, inner: list[Value], _n: Record) -> Value:
        made = inner[0]
        if isinstance(made, Function) and isinstance(original, Function):
            made.name, made.qualname = original.name, original.qualname
        return made

    return Native("wraps", rename, lenient=True)


@known("functools.partial")
def _partial(_machine: Machine, args: list[Value], named: Record) -> Value:
    function, given = args[0], args[1:]

    def call(machine: Machine, more: list[Value], late: Record) -> Value:
        return machine.call(function, [*given, *more], Record({**named, **late}))

    return Native("partial", call, lenient=True)


@known("functools.cached_property")
def _cached_property(_machine: Machine, args: list[Value], _named: Record) -> Value:
    return Descriptor("cached_property", args[0])


@known("contextlib.contextmanager", "contextlib.asynccontextmanager", "abc.abstractmethod")
def _as_it_is(_machine: Machine, args: list[Value], _named: Record) -> Value:
    return args[0]


@known("typing.cast")
def _cast(_machine: Machine, args: list[Value], _named: Record) -> Value:
    return args[1]


@known("copy.copy", "copy.deepcopy")
def _copy(machine: Machine, args: list[Value], _named: Record) -> Value:
    return copied(machine, args[0], {})


def copied(machine: Machine, value: Value, done: dict[int, Value]) -> Value:
    """Return a deep copy; a copy of the server's arguments is a draft, and is not followed."""
    if id(value) in done:
        return done[id(value)]
    if isinstance(value, Instance) and value.cls.members is None:
        made = done[id(value)] = Instance(value.cls, copied(machine, value.native, done))
        made.attrs.update({k: copied(machine, v, done) for k, v in value.attrs.items()})
        return made
    fresh: Value = value
    if isinstance(value, dict):
        fresh = Record({k: copied(machine, v, done) for k, v in value.items()})
    elif type(value) in (list, tuple, set):
        fresh = type(value)(copied(machine, v, done) for v in value)
    done[id(value)] = fresh
    return fresh
