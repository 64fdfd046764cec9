"""isinstance and issubclass: whether a value is of a type, as far as it is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tools.provenance.language import PLAIN_TYPES, builtin, plain
from tools.provenance.trail import either
from tools.provenance.values import (
    MISSING,
    Alias,
    Bound,
    Class,
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


def _holds(machine: Machine, value: Value, kind: Value) -> bool | Unknown:
    if isinstance(kind, tuple):
        answers = [_holds(machine, value, each) for each in kind]
        if True in answers:
            return True
        return next((a for a in answers if isinstance(a, Unknown)), False)
    if isinstance(kind, Alias):
        return _holds(machine, value, kind.args if _is_union(kind) else kind.origin)
    if isinstance(value, Extern) and not isinstance(kind, (Class, Native)):
        return Unknown((value.path,))
    return _is_a(value, kind)


def _is_union(kind: Alias) -> bool:
    return isinstance(kind.origin, Extern) and kind.origin.path == "typing.Union"


def _is_a(value: Value, kind: Value) -> bool | Unknown:
    if isinstance(kind, Class):
        return isinstance(value, Instance) and kind in value.cls.lineage()
    if isinstance(kind, Native):
        return _is_native(value, kind.name)
    if kind is None:
        return value is None
    if isinstance(kind, Extern):
        return _is_outside(value, kind.path)
    return Unknown(("whether a value is of a type",))


_ORDINARY: dict[str, Any] = {
    "dict": dict, "list": list, "tuple": tuple, "set": set, "frozenset": frozenset, **PLAIN_TYPES,
}  # fmt: skip


def _is_native(value: Value, name: str) -> bool | Unknown:
    if name == "object":
        return True
    if name == "type":
        return isinstance(value, (Class, Native))
    known = _ORDINARY.get(name)
    if known is None or isinstance(value, Extern):
        return False
    return isinstance(plain(value), known)


_ABSTRACT = {
    "Mapping": dict, "MutableMapping": dict, "Sequence": (list, tuple, str), "Iterable": (list, tuple, str, dict, set),
    "Callable": (Function, Native, Bound, Class), "Integral": int, "Number": (int, float), "Real": (int, float),
}  # fmt: skip


def _is_outside(value: Value, path: str) -> bool | Unknown:
    last = path.rsplit(".", 1)[-1]
    if path.startswith(("typing.", "collections.", "numbers.")) and last in _ABSTRACT:
        return isinstance(plain(value), _ABSTRACT[last])  # type: ignore[arg-type]
    if isinstance(value, Instance):
        return path in value.cls.outside() or last in {c.name for c in value.cls.lineage()}
    return False


@builtin("isinstance")
def _isinstance(machine: Machine, args: list[Value], _named: Record) -> Value:
    value, kind = args
    if isinstance(value, Unknown):
        if value.options is None or MISSING in value.options:
            return Unknown(value.why)
        return either([_holds(machine, v, kind) for v in value.options], value.why)
    return _holds(machine, value, kind)


@builtin("issubclass")
def _issubclass(_machine: Machine, args: list[Value], _named: Record) -> Value:
    cls, kinds = args[0], args[1] if isinstance(args[1], tuple) else (args[1],)
    if not isinstance(cls, Class):
        return False if isinstance(cls, (Native, Alias)) else because(*args)
    return any(
        kind in cls.lineage() or (isinstance(kind, Extern) and kind.path in cls.outside())
        for kind in kinds
    )
