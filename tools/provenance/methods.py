"""Methods of ordinary values that are known to be harmless: of texts, lists, dicts and sets."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from tools.provenance.changing import changing
from tools.provenance.operators import ERRORS, LONGEST
from tools.provenance.raising import failure
from tools.provenance.values import (
    MISSING,
    Extern,
    Instance,
    Native,
    Record,
    Unknown,
    Value,
    because,
)

if TYPE_CHECKING:
    from tools.provenance.machine import Machine

_READING = {
    str: frozenset(
        [
            "startswith",
            "endswith",
            "lower",
            "upper",
            "strip",
            "lstrip",
            "rstrip",
            "split",
            "rsplit",
            "splitlines",
            "replace",
            "join",
            "format",
            "find",
            "rfind",
            "index",
            "count",
            "isdigit",
            "isalpha",
            "isalnum",
            "isnumeric",
            "isidentifier",
            "title",
            "capitalize",
            "partition",
            "rpartition",
            "removeprefix",
            "removesuffix",
            "zfill",
            "encode",
            "casefold",
            "islower",
            "isupper",
            "isspace",
        ]
    ),
    bytes: frozenset(["decode", "hex", "startswith", "endswith", "strip", "split"]),
    dict: frozenset(["get", "items", "keys", "values", "copy"]),
    list: frozenset(["index", "count", "copy"]),
    tuple: frozenset(["index", "count"]),
    set: frozenset(
        [
            "union",
            "intersection",
            "difference",
            "symmetric_difference",
            "issubset",
            "issuperset",
            "isdisjoint",
            "copy",
        ]
    ),
    frozenset: frozenset(
        [
            "union",
            "intersection",
            "difference",
            "symmetric_difference",
            "issubset",
            "issuperset",
            "isdisjoint",
            "copy",
        ]
    ),
    int: frozenset(["bit_length", "conjugate"]),
    float: frozenset(["is_integer", "hex"]),
    re.Match: frozenset(["group", "groups", "start", "end", "groupdict"]),
}
_WRITING = {
    dict: frozenset(["update", "setdefault", "pop", "clear", "popitem", "move_to_end"]),
    list: frozenset(["append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse"]),
    set: frozenset(["add", "update", "discard", "remove", "pop", "clear", "difference_update"]),
}
_NUMBERS = ("real", "imag", "numerator", "denominator")
_BOUNDED = frozenset(("zfill", "ljust", "rjust", "center", "replace", "format", "join"))


def method_of(machine: Machine, owner: Value, name: str) -> Value:
    """Return a method of an ordinary value, or MISSING where it has none that is known."""
    for kind, names in _READING.items():
        if isinstance(owner, kind) and name in names:
            return Native(name, _reading(machine, owner, name), lenient=True)
    for kind, names in _WRITING.items():
        if isinstance(owner, kind) and name in names:
            return Native(name, changing(machine, owner, name), lenient=True)
    if name in _NUMBERS and isinstance(owner, (int, float)):
        return getattr(owner, name)
    if name in ("release", "major", "minor") and type(owner).__name__ == "_Version":
        return getattr(owner, name)
    return MISSING if not hasattr(owner, name) else Unknown((f"{type(owner).__name__}.{name}",))


def _reading(machine: Machine, owner: Value, name: str) -> Callable[..., Value]:
    def call(_machine: Machine, args: list[Value], keywords: Record) -> Value:
        if isinstance(owner, dict):
            return _of_dict(owner, name, args)
        unknown = _open_ended(args) or _open_ended(keywords.values())
        if unknown is not None:
            return unknown
        return _native_call(machine, owner, name, args, keywords)

    return call


def _open_ended(values: Value) -> Unknown | None:
    for value in values:
        if isinstance(value, Unknown):
            return value
        if isinstance(value, (list, tuple)):
            inner = _open_ended(value)
            if inner is not None:
                return inner
        if isinstance(value, (Extern, Instance)) and getattr(value, "native", MISSING) is MISSING:
            return Unknown(("a value from outside the source",))
    return None


def _native_call(
    machine: Machine, owner: Value, name: str, args: list[Value], keywords: Record
) -> Value:
    plain = [a.native if isinstance(a, Instance) else a for a in args]
    if name in _BOUNDED and _grown(owner, plain) > LONGEST:
        return Unknown(("a text too long to follow",))
    if name == "format" and any(c in owner for c in ("!", ".", "[", ":")):
        return Unknown(("a formatted text",))
    try:
        return getattr(owner, name)(*plain, **keywords)
    except ERRORS as error:
        raise failure(error) from None
    finally:
        del machine


def _grown(owner: Value, args: list[Value]) -> int:
    """Return a bound of the length that a method of a text can give."""
    numbers = [a for a in args if isinstance(a, int)]
    texts = [len(a) for a in args if isinstance(a, (str, bytes))]
    rows = [len(v) for a in args if isinstance(a, (list, tuple)) for v in a if isinstance(v, str)]
    longest = max(texts, default=0)
    return (len(owner) + 1) * (longest + 1) + sum(rows) + max(numbers, default=0)


def _of_dict(owner: dict[Value, Value], name: str, args: list[Value]) -> Value:
    if name == "get":
        return _got(owner, args)
    if name == "copy":
        return Record(owner)
    return [*{"items": owner.items(), "keys": owner.keys(), "values": owner.values()}[name]]


def _got(owner: dict[Value, Value], args: list[Value]) -> Value:
    default = args[1] if len(args) > 1 else None
    if isinstance(args[0], Unknown):
        return because(args[0])
    try:
        value = owner.get(args[0], MISSING)
    except ERRORS as error:
        raise failure(error) from None
    if isinstance(value, Unknown) and value.options and MISSING in value.options:
        return Unknown(value.why)
    return default if value is MISSING else value
