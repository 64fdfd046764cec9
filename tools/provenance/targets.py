"""What stands left of an equals sign: names, attributes, items, and rows of them."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tools.provenance.expressions import evaluating
from tools.provenance.raising import raised
from tools.provenance.scope import Frame
from tools.provenance.values import Unknown, Value

Bind = Callable[[Frame, Value], None]


def binding(node: ast.expr) -> Bind:
    """Return the function that gives a target its value."""
    if isinstance(node, ast.Name):
        name = node.id
        return lambda frame, value: frame.bind(name, value)
    if isinstance(node, ast.Attribute):
        return _to_attribute(node)
    if isinstance(node, ast.Subscript):
        return _to_item(node)
    if isinstance(node, (ast.Tuple, ast.List)):
        return _to_row(node.elts)
    return binding(node.value) if isinstance(node, ast.Starred) else lambda _frame, _value: None


def _to_attribute(node: ast.Attribute) -> Bind:
    owner, name, line = evaluating(node.value), node.attr, node.lineno

    def bind(frame: Frame, value: Value) -> None:
        target = owner(frame)
        frame.line = line
        frame.machine.set_attribute(target, name, value)

    return bind


def _to_item(node: ast.Subscript) -> Bind:
    owner, key, line = evaluating(node.value), evaluating(node.slice), node.lineno

    def bind(frame: Frame, value: Value) -> None:
        target = owner(frame)
        frame.line = line
        frame.machine.set_item(target, key(frame), value)

    return bind


def _to_row(nodes: list[ast.expr]) -> Bind:
    binds = [binding(node) for node in nodes]
    star = next((i for i, node in enumerate(nodes) if isinstance(node, ast.Starred)), None)

    def bind(frame: Frame, value: Value) -> None:
        values: list[Value]
        if isinstance(value, Unknown):
            values = [Unknown(value.why)] * len(binds)
        else:
            values = _parted(frame.machine.iterated(value), len(binds), star)
        for each, part in zip(binds, values, strict=True):
            each(frame, part)

    return bind


def _parted(values: list[Value], count: int, star: int | None) -> list[Value]:
    if star is None:
        if len(values) != count:
            raise raised("ValueError", "a row of another length than its targets")
        return values
    after = count - star - 1
    if len(values) < count - 1:
        raise raised("ValueError", "a row shorter than its targets")
    middle = values[star : len(values) - after]
    return [*values[:star], middle, *values[len(values) - after :]]


def unbinding(node: ast.expr) -> Callable[[Frame], None]:
    """Return the function that deletes a target."""
    if isinstance(node, ast.Name):
        name = node.id
        return lambda frame: frame.unbind(name)
    if isinstance(node, ast.Attribute):
        owner, attribute = evaluating(node.value), node.attr
        return lambda frame: frame.machine.drop_attribute(owner(frame), attribute)
    if isinstance(node, ast.Subscript):
        holder, key = evaluating(node.value), evaluating(node.slice)
        return lambda frame: frame.machine.drop_item(holder(frame), key(frame))
    return lambda _frame: None
