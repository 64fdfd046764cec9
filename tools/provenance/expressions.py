"""Expressions of the source, each made once into a function of the scope it is evaluated in."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from tools.provenance.operators import LONGEST
from tools.provenance.raising import raised
from tools.provenance.scope import Frame
from tools.provenance.truth import is_flat
from tools.provenance.values import (
    MISSING,
    Function,
    Instance,
    Record,
    Unknown,
    Value,
)

Eval = Callable[[Frame], Value]
_MAKERS: dict[type[ast.expr], Callable[[Any], Eval]] = {}


def expression(kind: type[ast.expr]) -> Callable[[Callable[[Any], Eval]], Callable[[Any], Eval]]:
    """Register what makes an Eval of one kind of expression."""

    def register(maker: Callable[[Any], Eval]) -> Callable[[Any], Eval]:
        _MAKERS[kind] = maker
        return maker

    return register


def evaluating(node: ast.expr) -> Eval:
    """Return the function that evaluates an expression."""
    maker = _MAKERS.get(type(node))
    if maker is None:
        kind = type(node).__name__
        return lambda _frame: Unknown((f"an expression of kind {kind}",))
    return maker(node)


def optional(node: ast.expr | None) -> Eval:
    """Return the function that evaluates an expression that may be left out."""
    return evaluating(node) if node is not None else lambda _frame: None


@expression(ast.Constant)
def _constant(node: ast.Constant) -> Eval:
    value = node.value
    return lambda _frame: value


@expression(ast.Name)
def _name(node: ast.Name) -> Eval:
    name = node.id

    def look_up(frame: Frame) -> Value:
        value = frame.names.get(name, MISSING)
        if value is MISSING or type(value) not in _READY:
            value = frame.lookup(name)
            if value is MISSING:
                return frame.machine.builtin(name)
        return value

    return look_up


_READY = (str, int, float, bool, list, tuple, dict, Record, Instance, Function, type(None))


@expression(ast.Attribute)
def _attribute(node: ast.Attribute) -> Eval:
    owner, name = evaluating(node.value), node.attr
    return lambda frame: frame.machine.attribute(owner(frame), name)


@expression(ast.Subscript)
def _subscript(node: ast.Subscript) -> Eval:
    owner, key = evaluating(node.value), evaluating(node.slice)
    return lambda frame: frame.machine.item(owner(frame), key(frame))


@expression(ast.Slice)
def _slice(node: ast.Slice) -> Eval:
    parts = [optional(part) for part in (node.lower, node.upper, node.step)]

    def cut(frame: Frame) -> Value:
        ends = [part(frame) for part in parts]
        unknown = next((end for end in ends if isinstance(end, Unknown)), None)
        return unknown or slice(*ends)

    return cut


def elements(nodes: list[ast.expr]) -> Callable[[Frame], list[Value]]:
    """Return the function that evaluates a row of expressions, unpacking the starred."""
    parts = [
        (evaluating(n.value), True) if isinstance(n, ast.Starred) else (evaluating(n), False)
        for n in nodes
    ]
    if not any(starred for _, starred in parts):
        plain = [part for part, _ in parts]
        return lambda frame: [part(frame) for part in plain]

    def unpack(frame: Frame) -> list[Value]:
        found: list[Value] = []
        for part, starred in parts:
            value = part(frame)
            found += frame.machine.iterated(value) if starred else [value]
        return found

    return unpack


@expression(ast.Tuple)
def _tuple(node: ast.Tuple) -> Eval:
    parts = elements(node.elts)
    return lambda frame: tuple(parts(frame))


@expression(ast.List)
def _list(node: ast.List) -> Eval:
    return elements(node.elts)


@expression(ast.Set)
def _set(node: ast.Set) -> Eval:
    parts = elements(node.elts)
    return lambda frame: frame.machine.as_set(parts(frame))


@expression(ast.Dict)
def _dict(node: ast.Dict) -> Eval:
    pairs = [
        (evaluating(key) if key else None, evaluating(value), (key or value).lineno)
        for key, value in zip(node.keys, node.values, strict=True)
    ]

    def build(frame: Frame) -> Value:
        record = Record()
        for key, value, line in pairs:
            if key is None:
                frame.machine.merge(record, value(frame))
            else:
                name = frame.machine.hashable(key(frame))
                record[name] = value(frame)
                record.born[name] = frame.machine.place(frame, line)
        return record

    return build


@expression(ast.JoinedStr)
def _joined(node: ast.JoinedStr) -> Eval:
    parts = [evaluating(part) for part in node.values]

    def write(frame: Frame) -> Value:
        values = [part(frame) for part in parts]
        unknown = next((value for value in values if isinstance(value, Unknown)), None)
        return unknown or "".join(str(value) for value in values)[:LONGEST]

    return write


@expression(ast.FormattedValue)
def _formatted(node: ast.FormattedValue) -> Eval:
    value = evaluating(node.value)
    convert = {114: repr, 97: ascii}.get(node.conversion, str)
    plain = node.format_spec is None

    def write(frame: Frame) -> Value:
        found = value(frame)
        if isinstance(found, Instance) and found.native is not MISSING:
            found = found.native
        return convert(found) if plain and is_flat(found) else Unknown(("a formatted text",))

    return write


@expression(ast.Lambda)
def _lambda(node: ast.Lambda) -> Eval:
    defaults = [evaluating(value) for value in node.args.defaults]

    def make(frame: Frame) -> Value:
        given = tuple(value(frame) for value in defaults)
        return Function(node, frame, "<lambda>", "<lambda>", given, {})

    return make


@expression(ast.Yield)
def _yield(node: ast.Yield) -> Eval:
    value = optional(node.value)

    def send(frame: Frame) -> Value:
        found = value(frame)
        if frame.sent is None:
            raise raised("RuntimeError", "yield outside a function")
        frame.sent.append(found)
        return None

    return send


@expression(ast.YieldFrom)
def _yield_from(node: ast.YieldFrom) -> Eval:
    value = evaluating(node.value)

    def send(frame: Frame) -> Value:
        frame.sent = (frame.sent or []) + frame.machine.iterated(value(frame))

    return send
