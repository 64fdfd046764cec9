"""Where a name is looked up while source is followed: a call's own names, then those around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.provenance.trail import Delta
from tools.provenance.values import MISSING, Class, Function, Lazy, Module, Value

if TYPE_CHECKING:
    from tools.provenance.machine import Machine


@dataclass(slots=True)
class Exit:
    """A way out of a block that may have been taken: what it gives, and the state it leaves."""

    kind: str  # "return", "break", "continue"
    value: Value
    delta: Delta
    why: tuple[str, ...]
    seen: int = 0  # writes that were noted before it


class Frame:
    """The names of one call, class body, comprehension or module."""

    __slots__ = (
        "cls", "exits", "function", "globals", "line", "machine", "mark", "module", "names",
        "outer", "sent",
    )  # fmt: skip

    def __init__(
        self, machine: Machine, module: Module, outer: Frame | None, names: dict[str, Value]
    ) -> None:
        self.machine = machine
        self.module = module
        self.outer = outer
        self.names = names
        self.line = 0
        self.function: Function | None = None
        self.cls: Class | None = None  # while its body runs
        self.globals: set[str] = set()
        self.exits: list[Exit] = []
        self.mark = -1
        self.sent: list[Value] | None = None  # what a generator has yielded

    def lookup(self, name: str) -> Value:
        """Return what a name stands for here, or MISSING."""
        scope: Frame | None = self
        while scope is not None:
            value = scope.names.get(name, MISSING)
            if value is not MISSING and (scope is self or scope.cls is None):
                return self._needed(scope.names, name, value)
            scope = scope.outer
        value = self.module.names.get(name, MISSING)
        return self._needed(self.module.names, name, value)

    def _needed(self, names: dict[str, Value], name: str, value: Value) -> Value:
        if type(value) is Lazy:
            value = names[name] = self.machine.imported(value)
        return value

    def bind(self, name: str, value: Value) -> None:
        """Give a name a value, in this scope or where `global` or `nonlocal` says."""
        names = self.names
        if name in self.globals:
            scope = self.outer
            while scope is not None and name not in scope.names:
                scope = scope.outer
            names = scope.names if scope is not None else self.module.names
        self.machine.trail.set(names, name, value)

    def unbind(self, name: str) -> None:
        """Take a name away."""
        if name in self.names:
            self.machine.trail.drop(self.names, name)
