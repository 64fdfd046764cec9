"""True, false, or cannot tell: what a value counts as in a condition."""

from __future__ import annotations

from collections.abc import Callable

from tools.provenance.values import (
    MISSING,
    Alias,
    Class,
    Extern,
    Function,
    Instance,
    Module,
    Unknown,
    Value,
)

_SCALAR = (str, int, float, type(None))


def is_flat(value: Value) -> bool:
    """Whether a value can be written out: a plain one, or a row of plain ones."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return len(value) <= 10_000 and all(isinstance(each, _SCALAR) for each in value)
    return isinstance(value, _SCALAR)


def truth(value: Value) -> bool | Unknown:
    """Return whether a value counts as true; an Unknown with its reasons where that is open."""
    judge = _JUDGES.get(type(value))
    if judge is not None:
        return judge(value)
    try:
        return bool(value)
    except (TypeError, ValueError, ArithmeticError):
        return Unknown(("a value has no truth",))


def _of_unknown(value: Unknown) -> bool | Unknown:
    if value.options is None:
        return value
    found = {_plain(truth(option)) for option in value.options if option is not MISSING}
    if len(found) == 1 and None not in found and MISSING not in value.options:
        return found == {True}
    return value


def _plain(answer: Value) -> bool | None:
    return None if isinstance(answer, Unknown) else bool(answer)


def _of_outside(value: Extern) -> bool | Unknown:
    last = value.path.rsplit(".", 1)[-1]
    return Unknown((value.path,)) if last.isupper() and len(last) > 1 else True


def _of_instance(value: Instance) -> bool | Unknown:
    if value.native is not MISSING:
        return truth(value.native)
    if value.cls.find("__bool__") is not MISSING or value.cls.find("__len__") is not MISSING:
        return Unknown((f"whether a {value.cls.name} is true",))
    return True


def _holds(_value: Value) -> bool:
    return True


_JUDGES: dict[type, Callable[[Value], bool | Unknown]] = {
    Unknown: _of_unknown,
    Extern: _of_outside,
    Instance: _of_instance,
    Alias: _holds,
    Class: _holds,
    Function: _holds,
    Module: _holds,
}
