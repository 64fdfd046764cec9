"""The language's functions on rows of values: sorted, min, max, sum, zip, enumerate, map..."""

from __future__ import annotations

from functools import cmp_to_key
from typing import TYPE_CHECKING, Any

from tools.provenance.language import BUILTINS, builtin
from tools.provenance.operators import ERRORS
from tools.provenance.raising import failure, raised
from tools.provenance.truth import truth
from tools.provenance.values import MISSING, Extern, Instance, Native, Record, Unknown, Value

if TYPE_CHECKING:
    from tools.provenance.machine import Machine


def open_ended(values: Any) -> Unknown | None:
    """Return the first unknown of a row."""
    return next((value for value in values if isinstance(value, Unknown)), None)


def _row(machine: Machine, args: list[Value]) -> list[Value] | Unknown:
    if not args:
        return []
    return args[0] if isinstance(args[0], Unknown) else machine.iterated(args[0])


@builtin("list")
def _list(machine: Machine, args: list[Value], _named: Record) -> Value:
    row = _row(machine, args)
    return row if isinstance(row, Unknown) else list(row)


@builtin("tuple")
def _tuple(machine: Machine, args: list[Value], _named: Record) -> Value:
    row = _row(machine, args)
    return row if isinstance(row, Unknown) else tuple(row)


@builtin("set")
def _set(machine: Machine, args: list[Value], _named: Record) -> Value:
    row = _row(machine, args)
    return row if isinstance(row, Unknown) else machine.as_set(row)


@builtin("frozenset")
def _frozenset(machine: Machine, args: list[Value], _named: Record) -> Value:
    row = _row(machine, args)
    return row if isinstance(row, Unknown) else frozenset(machine.as_set(row))


@builtin("dict")
def _dict(machine: Machine, args: list[Value], named: Record) -> Value:
    record = Record()
    for other in (*args, named):
        machine.merge(record, other)
    return record


BUILTINS["dict_type"] = BUILTINS["dict"]


def _keyed(machine: Machine, row: list[Value], key: Value) -> list[Value]:
    if key is None:
        return [v.native if isinstance(v, Instance) and v.native is not MISSING else v for v in row]
    return [machine.call(key, [value], Record()) for value in row]


def _compared(one: tuple[Value, int], other: tuple[Value, int]) -> int:
    return int(one[0] > other[0]) - int(one[0] < other[0])


@builtin("sorted")
def _sorted(machine: Machine, args: list[Value], named: Record) -> Value:
    row = _row(machine, args)
    keys = row if isinstance(row, Unknown) else _keyed(machine, row, named.get("key"))
    if isinstance(keys, Unknown) or isinstance(row, Unknown):
        return keys
    unknown = open_ended(keys)
    if unknown is not None:
        return unknown
    try:
        order = sorted(zip(keys, range(len(row)), strict=True), key=cmp_to_key(_compared))
    except ERRORS as error:
        raise failure(error) from None
    found = [row[place] for _, place in order]
    return found[::-1] if named.get("reverse") else found


def _extreme(name: str, choose: Any) -> None:
    def find(machine: Machine, args: list[Value], named: Record) -> Value:
        row = _row(machine, args) if len(args) == 1 else args
        if isinstance(row, Unknown):
            return row
        keys = _keyed(machine, row, named.get("key"))
        unknown = open_ended(keys)
        if unknown is not None:
            return _bounded(machine, name, keys) or Unknown(unknown.why)
        if not row:
            if "default" in named:
                return named["default"]
            raise raised("ValueError", f"{name}() of nothing")
        return _chosen(row, keys, choose)

    BUILTINS[name] = Native(name, find, lenient=True)


def _chosen(row: list[Value], keys: list[Value], choose: Any) -> Value:
    try:
        return row[keys.index(choose(keys))]
    except ERRORS as error:
        raise failure(error) from None


def _bounded(machine: Machine, name: str, keys: list[Value]) -> Value:
    """Return min() or max() of few possible values, where each unknown has few."""
    del machine
    if len(keys) != 2 or not all(isinstance(k, (int, float, Unknown)) for k in keys):
        return None
    few = [(k.options or ()) if isinstance(k, Unknown) else (k,) for k in keys]
    if not all(few) or any(not isinstance(o, (int, float)) for row in few for o in row):
        return None
    choose = min if name == "min" else max
    found = {choose(a, b) for a in few[0] for b in few[1]}
    why = next(k.why for k in keys if isinstance(k, Unknown))
    return found.pop() if len(found) == 1 else Unknown(why, tuple(found))


_extreme("min", min)
_extreme("max", max)


@builtin("sum")
def _sum(machine: Machine, args: list[Value], _named: Record) -> Value:
    row = _row(machine, args)
    if isinstance(row, Unknown) or (unknown := open_ended(row)):
        return row if isinstance(row, Unknown) else unknown
    try:
        return sum(row, *args[1:])
    except ERRORS as error:
        raise failure(error) from None


@builtin("zip")
def _zip(machine: Machine, args: list[Value], _named: Record) -> Value:
    unknown = open_ended(args)
    return unknown or list(zip(*(machine.iterated(a) for a in args), strict=False))


@builtin("enumerate")
def _enumerate(machine: Machine, args: list[Value], named: Record) -> Value:
    row = _row(machine, args)
    start = args[1] if len(args) > 1 else named.get("start", 0)
    return row if isinstance(row, Unknown) else list(enumerate(row, start))


@builtin("reversed")
def _reversed(machine: Machine, args: list[Value], _named: Record) -> Value:
    row = _row(machine, args)
    return row if isinstance(row, Unknown) else row[::-1]


@builtin("map")
def _map(machine: Machine, args: list[Value], _named: Record) -> Value:
    unknown = open_ended(args[1:])
    rows = [machine.iterated(a) for a in args[1:]] if unknown is None else []
    calls = [machine.call(args[0], list(v), Record()) for v in zip(*rows, strict=False)]
    return unknown or calls


@builtin("filter")
def _filter(machine: Machine, args: list[Value], _named: Record) -> Value:
    row = _row(machine, args[1:])
    if isinstance(row, Unknown):
        return row
    kept = []
    for value in row:
        answer = truth(value if args[0] is None else machine.call(args[0], [value], Record()))
        if isinstance(answer, Unknown):
            return answer
        if answer:
            kept.append(value)
    return kept


def _number(name: str, function: Any) -> None:
    def compute(_machine: Machine, args: list[Value], _named: Record) -> Value:
        if any(isinstance(a, Extern) for a in args):
            return Unknown((name,))
        try:
            return function(*(a.native if isinstance(a, Instance) else a for a in args))
        except ERRORS as error:
            raise failure(error) from None

    BUILTINS[name] = Native(name, compute)


for _name, _function in {
    "abs": abs,
    "round": round,
    "divmod": divmod,
    "ord": ord,
    "chr": chr,
}.items():
    _number(_name, _function)
