"""Arithmetic and comparison on values that may be unknown, or outside the source."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable

from tools.provenance.raising import failure
from tools.provenance.trail import either
from tools.provenance.values import (
    MISSING,
    Alias,
    Class,
    Extern,
    Instance,
    Native,
    Raised,
    Unknown,
    Value,
    because,
)

LONGEST = 1 << 20  # of a text or list that an operation may make
_BIGGEST = 1 << 256
_WIDE = re.compile(r"%[^a-zA-Z%]{0,20}\d{4}")  # a width that would make a long text

BINARY: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
}
ERRORS = (TypeError, ValueError, KeyError, IndexError, ArithmeticError, AttributeError)


def spread(values: tuple[Value, ...], apply: Callable[..., Value]) -> Value:
    """Apply an operation to every combination of the few values an unknown can have."""
    position = next(i for i, value in enumerate(values) if isinstance(value, Unknown))
    unknown = values[position]
    if unknown.options is None or MISSING in unknown.options:
        return because(*values)
    results = []
    for option in unknown.options:
        try:
            results.append(apply(*values[:position], option, *values[position + 1 :]))
        except Raised:
            return because(*values)
    return either(results, unknown.why)


def binary(kind: type[ast.operator], left: Value, right: Value) -> Value:
    """Return left OP right; raise Raised where the source would raise."""
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return spread((left, right), lambda a, b: binary(kind, a, b))
    if kind is ast.BitOr and (_is_type(left) or _is_type(right)):
        return Alias(Extern("typing.Union"), (left, right))
    left, right = native(left), native(right)
    if isinstance(left, (Extern, Instance)) or isinstance(right, (Extern, Instance)):
        return Unknown((f"what {named(left)} and {named(right)} give",))
    return _computed(kind, left, right)


def _computed(kind: type[ast.operator], left: Value, right: Value) -> Value:
    if _size_after(kind, left, right) > LONGEST:
        return Unknown(("a value too long to follow",))
    if _too_large(kind, left, right):
        return Unknown(("a number too large to follow",))
    if kind is ast.Mod and isinstance(left, str):
        return _formatted(left, right)
    try:
        return BINARY.get(kind, _no_operation)(left, right)
    except ERRORS as error:
        raise failure(error) from None


def _formatted(left: str, right: Value) -> Value:
    scalar = all(isinstance(v, (str, int, float, type(None))) for v in _parts(right))
    if not scalar or "*" in left or _WIDE.search(left):
        return Unknown(("a formatted text",))
    try:
        return (left % right)[:LONGEST] if len(left) < 10_000 else left
    except ERRORS as error:
        raise failure(error) from None


def _parts(value: Value) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else (value,)


def _no_operation(left: Value, right: Value) -> Value:
    return Unknown((f"what {left!r} and {right!r} give",))


def _too_large(kind: type[ast.operator], left: Value, right: Value) -> bool:
    if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
        return False
    if kind in (ast.Pow, ast.LShift):
        return abs(left) >= _BIGGEST or abs(right) > 64
    return kind is ast.Mult and (abs(left) >= _BIGGEST or abs(right) >= _BIGGEST)


def _size_after(kind: type[ast.operator], left: Value, right: Value) -> int:
    sizes = [len(v) for v in (left, right) if isinstance(v, (str, bytes, list, tuple))]
    if kind is ast.Add:
        return sum(sizes)
    times = [v for v in (left, right) if isinstance(v, int)]
    return sizes[0] * times[0] if kind is ast.Mult and sizes and times else 0


def _is_type(value: Value) -> bool:
    return isinstance(value, (Class, Alias)) or (isinstance(value, Native) and value.name in TYPES)


TYPES = frozenset(
    [
        "str",
        "int",
        "float",
        "bool",
        "list",
        "dict",
        "tuple",
        "set",
        "frozenset",
        "bytes",
        "type",
        "object",
        "complex",
    ]
)


def native(value: Value) -> Value:
    """Return the ordinary value of an object that extends one."""
    return value.native if isinstance(value, Instance) and value.native is not MISSING else value


def named(value: Value) -> str:
    """Return a value in a few words."""
    return value.path if isinstance(value, Extern) else repr(value)[:40]


def unary(kind: type[ast.unaryop], value: Value) -> Value:
    """Return OP value for -, + and ~."""
    if isinstance(value, Unknown):
        return spread((value,), lambda a: unary(kind, a))
    try:
        return _UNARY[kind](native(value))
    except ERRORS as error:
        raise failure(error) from None


_UNARY: dict[type[ast.unaryop], Callable[[Value], Value]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
