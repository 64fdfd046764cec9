"""Things outside the source that are understood: functions, constructors, inherited methods."""

from __future__ import annotations

from collections.abc import Callable

from tools.provenance.values import Class, Value

Call = Callable[..., Value]
CALLS: dict[str, Call] = {}  # function(machine, args, keywords) by dotted name
LENIENT: set[str] = set()
INITS: dict[str, Call] = {}  # what a base class outside does to a new object


def known(*paths: str, lenient: bool = True) -> Callable[[Call], Call]:
    """Register a function from outside that is understood."""

    def register(function: Call) -> Call:
        for path in paths:
            CALLS[path] = function
            if lenient:
                LENIENT.add(path)
        return function

    return register


def base(path: str) -> Callable[[Call], Call]:
    """Register what the constructor of a class outside does."""

    def register(function: Call) -> Call:
        INITS[path] = function
        return function

    return register


Inherited = Callable[[Class, str], Value]
INHERITED: dict[str, Inherited] = {}  # what classes get from a base outside, by the package's name


def inherits(package: str) -> Callable[[Inherited], Inherited]:
    """Register what classes of the source inherit from a package outside."""

    def register(function: Inherited) -> Inherited:
        INHERITED[package] = function
        return function

    return register
