"""Follows source: every value the resolver would compute, as far as what is known settles it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from tools.provenance import attributes, blocks, comprehensions, conditions, kinds, rows, writing  # noqa: F401
from tools.provenance.calling import Calling
from tools.provenance.imports import Imports
from tools.provenance.journal import Journal
from tools.provenance.language import BUILTINS
from tools.provenance.operators import binary
from tools.provenance.outside import Outside
from tools.provenance.scope import Frame
from tools.provenance.tree import Tree
from tools.provenance.types import Types
from tools.provenance.values import (
    MISSING,
    Extern,
    Function,
    Instance,
    Lazy,
    Module,
    Record,
    Unknown,
    Value,
)


class Machine(Calling):
    """One following of the source, with all that it has found out so far."""

    def __init__(self, tree: Tree, outside: Outside) -> None:
        super().__init__(tree, outside)
        self.journal = Journal(self)
        self.imports = Imports(self)
        self.types = Types(self)
        outside.machine = self

    # Names

    def imported(self, lazy: Lazy) -> Value:
        """Return what an import gives."""
        return self.imports.resolve(lazy)

    def builtin(self, name: str) -> Value:
        """Return what a name means to the language itself."""
        if name in BUILTINS:
            return BUILTINS[name]
        if name == "__file__":
            return ""
        return {"Ellipsis": ..., "NotImplemented": Extern("builtins.NotImplemented")}.get(
            name, Unknown((f"the name {name}",))
        )

    def bring(self, frame: Frame, name: str, as_name: str | None) -> None:
        """Carry out an import."""
        self.imports.bring(frame, name, as_name)

    def bring_from(self, frame: Frame, module: str, name: str, as_name: str) -> None:
        """Carry out an import of one name."""
        self.imports.bring_from(frame, module, name, as_name)

    def absolute(self, module: Module, name: str, level: int) -> str:
        """Return the full dotted name of a relative import."""
        return self.imports.absolute(module, name, level)

    # Attributes and items

    def attribute(self, owner: Value, name: str) -> Value:
        """Return owner.name."""
        return attributes.attribute(self, owner, name)

    def set_attribute(self, owner: Value, name: str, value: Value) -> None:
        """Carry out owner.name = value."""
        writing.set_attribute(self, owner, name, value)

    def drop_attribute(self, owner: Value, name: str) -> None:
        """Carry out del owner.name."""
        writing.drop(self, owner, name)

    def item(self, owner: Value, key: Value) -> Value:
        """Return owner[key]."""
        return attributes.item(self, owner, key)

    # Operations

    def operated(self, kind: type[ast.operator], left: Value, right: Value) -> Value:
        """Return left OP right."""
        if isinstance(left, Instance) and left.native is MISSING:
            hook = left.cls.find(_HOOKS.get(kind, ""))
            if isinstance(hook, Function):
                return self.call(hook, [left, right], Record())
            if left.cls is _PATH and kind is ast.Div:
                return self.outside.joined_path(left, right)
        return binary(kind, left, right)

    def compared(
        self,
        compare: Callable[[Value, Value], Any],
        kind: type[ast.cmpop],
        left: Value,
        right: Value,
    ) -> bool | Unknown:
        """Return left OP right as true, false or unknown."""
        owner, method, other = (
            (right, "__contains__", left) if kind in _IN else (left, "__eq__", right)
        )
        if isinstance(owner, Instance) and owner.native is MISSING and kind in _HOOKED:
            hook = owner.cls.find(method)
            if isinstance(hook, Function):
                answer = BUILTINS["bool"].call(
                    self, [self.call(hook, [owner, other], Record())], {}
                )
                negative = kind in (ast.NotIn, ast.NotEq)
                return answer if isinstance(answer, Unknown) else bool(answer) is not negative
            if kind in _IN:
                right = self.iterated(owner)
        return compare(left, right)  # type: ignore[no-any-return]

    def frame_of(self, function: Function, names: dict[str, Value]) -> Frame:
        """Return the scope of a call."""
        scope = function.scope
        frame = Frame(self, scope.module, scope, names)
        frame.function = function
        frame.line = function.node.lineno
        return frame

    # with

    def entered(self, manager: Value) -> Value:
        """Return what `with manager as` gives."""
        if isinstance(manager, Instance) and manager.cls.find("__enter__") is not MISSING:
            return self.call(self.attribute(manager, "__enter__"), [], Record())
        if isinstance(manager, list):  # a generator made into a manager: it has run
            return manager[0] if manager else None
        return manager if isinstance(manager, Instance) else Unknown(("what is entered",))

    def left(self, manager: Value) -> None:
        """End a with statement."""
        if isinstance(manager, Instance) and manager.cls.find("__exit__") is not MISSING:
            self.call(self.attribute(manager, "__exit__"), [None, None, None], Record())

    # What is told

    def tested(self, frame: Frame, node: ast.expr, answer: Value) -> None:
        """Remember how a condition came out."""
        self.journal.tests[frame.module.path, node.lineno, node.col_offset] = answer


_IN = (ast.In, ast.NotIn)
_HOOKED = (ast.In, ast.NotIn, ast.Eq, ast.NotEq)
_HOOKS: dict[type[ast.operator], str] = {
    ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.BitOr: "__or__",
    ast.BitAnd: "__and__", ast.Div: "__truediv__", ast.FloorDiv: "__floordiv__",
}  # fmt: skip
_PATH = None
