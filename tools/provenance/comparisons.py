"""Comparisons of values that may be unknown: true, false, or cannot tell."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from tools.provenance.operators import ERRORS, named, native, spread
from tools.provenance.raising import failure
from tools.provenance.values import MISSING, Extern, Instance, Unknown, Value, because


def identical(left: Value, right: Value) -> bool | Unknown:
    """Return whether left is right."""
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        found: bool | Unknown = spread((left, right), identical)
        return found
    if isinstance(left, Extern) and isinstance(right, Extern):
        return left.path == right.path
    if isinstance(left, (int, str)) and isinstance(right, (int, str)):
        return type(left) is type(right) and left == right
    return left is right


def equal(left: Value, right: Value) -> bool | Unknown:
    """Return whether left == right."""
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        found: bool | Unknown = spread((left, right), equal)
        return found
    if isinstance(left, (tuple, list)) and isinstance(right, type(left)):
        return _all_equal(left, right)
    return bool(left == right)


def _all_equal(left: Value, right: Value) -> bool | Unknown:
    if len(left) != len(right):
        return False
    answers = [equal(a, b) for a, b in zip(left, right, strict=True)]
    if False in answers:
        return False
    return next((a for a in answers if isinstance(a, Unknown)), True)


def contained(item: Value, container: Value) -> bool | Unknown:
    """Return whether item is in container."""
    container = native(container)
    if isinstance(item, Unknown) or isinstance(container, Unknown):
        found: bool | Unknown = spread((item, container), contained)
        return found
    if isinstance(container, Extern):
        return Unknown((container.path,))
    try:
        if item in container:
            value = container[item] if isinstance(container, dict) else None
            if isinstance(value, Unknown) and MISSING in (value.options or ()):
                return Unknown(value.why)
            return True
        open_ended = [v for v in _listed(container) if isinstance(v, Unknown)]
    except ERRORS as error:
        raise failure(error) from None
    return because(*open_ended) if open_ended else False


def _listed(container: Value) -> Value:
    return container if isinstance(container, (list, tuple, set, frozenset, dict)) else ()


def ordered(compare: Callable[[Value, Value], bool], left: Value, right: Value) -> bool | Unknown:
    """Return left < right and its kin."""
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        found: bool | Unknown = spread((left, right), lambda a, b: ordered(compare, a, b))
        return found
    left, right = native(left), native(right)
    if isinstance(left, (Extern, Instance)) or isinstance(right, (Extern, Instance)):
        return Unknown((f"how {named(left)} and {named(right)} compare",))
    try:
        return compare(left, right)
    except ERRORS as error:
        raise failure(error) from None


def opposite(answer: Value) -> bool | Unknown:
    """Return not answer."""
    return answer if isinstance(answer, Unknown) else not answer


COMPARE: dict[type[ast.cmpop], Callable[[Value, Value], bool | Unknown]] = {
    ast.Eq: equal,
    ast.NotEq: lambda a, b: opposite(equal(a, b)),
    ast.Is: identical,
    ast.IsNot: lambda a, b: opposite(identical(a, b)),
    ast.In: contained,
    ast.NotIn: lambda a, b: opposite(contained(a, b)),
    ast.Lt: lambda a, b: ordered(operator.lt, a, b),
    ast.LtE: lambda a, b: ordered(operator.le, a, b),
    ast.Gt: lambda a, b: ordered(operator.gt, a, b),
    ast.GtE: lambda a, b: ordered(operator.ge, a, b),
}
