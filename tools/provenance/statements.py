"""Statements of the source, each made once into a function that carries it out in a scope."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from tools.provenance.expressions import elements, evaluating, optional
from tools.provenance.forks import Arm, Signal, fork
from tools.provenance.scope import Frame
from tools.provenance.targets import binding, unbinding
from tools.provenance.truth import truth
from tools.provenance.values import Function, Raised, Unknown, Value

_MAKERS: dict[type[ast.stmt], Callable[[Any], Arm]] = {}


def statement(kind: type[ast.stmt]) -> Callable[[Callable[[Any], Arm]], Callable[[Any], Arm]]:
    """Register what makes an Arm of one kind of statement."""

    def register(maker: Callable[[Any], Arm]) -> Callable[[Any], Arm]:
        _MAKERS[kind] = maker
        return maker

    return register


def carrying_out(nodes: Sequence[ast.stmt]) -> Arm:
    """Return the function that carries out statements in order."""
    made = [
        (node.lineno, _MAKERS.get(type(node), _nothing)(node))
        for node in nodes
        if not isinstance(node, (ast.Pass, ast.Global)) or isinstance(node, ast.Global)
    ]

    def run(frame: Frame) -> Signal:
        for line, each in made:
            frame.line = line
            signal = each(frame)
            if signal is not None:
                return signal
        return None

    return run


def _nothing(_node: ast.stmt) -> Arm:
    return lambda _frame: None


@statement(ast.Expr)
def _expression(node: ast.Expr) -> Arm:
    if isinstance(node.value, ast.Constant):
        return lambda _frame: None
    value = evaluating(node.value)

    def run(frame: Frame) -> None:
        value(frame)

    return run


@statement(ast.Assign)
def _assign(node: ast.Assign) -> Arm:
    value, binds = evaluating(node.value), [binding(target) for target in node.targets]

    def run(frame: Frame) -> None:
        found = value(frame)
        for bind in binds:
            bind(frame, found)

    return run


@statement(ast.AnnAssign)
def _annotated(node: ast.AnnAssign) -> Arm:
    value = evaluating(node.value) if node.value is not None else None
    bind, target, annotation = binding(node.target), node.target, node.annotation

    def run(frame: Frame) -> None:
        if frame.cls is not None and isinstance(target, ast.Name):
            frame.cls.annotations[target.id] = (annotation, frame)
        if value is not None:
            bind(frame, value(frame))

    return run


@statement(ast.AugAssign)
def _augmented(node: ast.AugAssign) -> Arm:
    load = {ast.Name: ast.Name, ast.Attribute: ast.Attribute, ast.Subscript: ast.Subscript}
    fields = {name: getattr(node.target, name) for name in node.target._fields if name != "ctx"}
    read = load[type(node.target)](**fields, ctx=ast.Load())
    ast.copy_location(read, node.target)
    old, value, kind = evaluating(read), evaluating(node.value), type(node.op)
    bind = binding(node.target)

    def run(frame: Frame) -> None:
        before, more = old(frame), value(frame)
        if not frame.machine.extended(kind, before, more):
            bind(frame, frame.machine.operated(kind, before, more))

    return run


@statement(ast.Delete)
def _delete(node: ast.Delete) -> Arm:
    drops = [unbinding(target) for target in node.targets]

    def run(frame: Frame) -> None:
        for drop in drops:
            drop(frame)

    return run


@statement(ast.Return)
def _return(node: ast.Return) -> Arm:
    value = optional(node.value)
    return lambda frame: ("return", value(frame))


@statement(ast.Break)
def _break(_node: ast.Break) -> Arm:
    return lambda _frame: ("break", None)


@statement(ast.Continue)
def _continue(_node: ast.Continue) -> Arm:
    return lambda _frame: ("continue", None)


@statement(ast.Global)
def _global(node: ast.Global | ast.Nonlocal) -> Arm:
    names = node.names

    def run(frame: Frame) -> None:
        frame.globals.update(names)

    return run


_MAKERS[ast.Nonlocal] = _global


@statement(ast.If)
def _if(node: ast.If) -> Arm:
    test, body, orelse = evaluating(node.test), carrying_out(node.body), carrying_out(node.orelse)
    where = node.test

    def run(frame: Frame) -> Signal:
        answer = truth(test(frame))
        frame.machine.tested(frame, where, answer)
        if isinstance(answer, Unknown):
            return fork(frame, (body, orelse), answer.why)
        return body(frame) if answer else orelse(frame)

    return run


@statement(ast.Assert)
def _assert(node: ast.Assert) -> Arm:
    del node
    return lambda _frame: None


@statement(ast.Raise)
def _raise(node: ast.Raise) -> Arm:
    value, line = optional(node.exc), node.lineno

    def run(frame: Frame) -> None:
        error = value(frame) if node.exc is not None else frame.lookup(".caught")
        place = frame.machine.place(frame, line)
        if place not in frame.machine.outlived:
            raise Raised(error, place)

    return run


@statement(ast.FunctionDef)
def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Arm:
    decorators = [evaluating(each) for each in node.decorator_list]
    defaults = elements(node.args.defaults)
    keyword = {
        arg.arg: evaluating(value)
        for arg, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if value is not None
    }

    def run(frame: Frame) -> None:
        qualname = f"{frame.cls.qualname}.{node.name}" if frame.cls else node.name
        named = {name: value(frame) for name, value in keyword.items()}
        made: Value = Function(node, frame, node.name, qualname, tuple(defaults(frame)), named)
        made.owner = frame.cls
        for decorator in reversed(decorators):
            made = frame.machine.decorated(decorator(frame), made)
        frame.bind(node.name, made)

    return run


_MAKERS[ast.AsyncFunctionDef] = _function


@statement(ast.ClassDef)
def _class(node: ast.ClassDef) -> Arm:
    bases, body = elements(node.bases), carrying_out(node.body)
    decorators = [evaluating(each) for each in node.decorator_list]
    keywords = {k.arg: evaluating(k.value) for k in node.keywords if k.arg}

    def run(frame: Frame) -> None:
        options = {name: value(frame) for name, value in keywords.items()}
        made: Value = frame.machine.new_class(frame, node.name, bases(frame), body, options)
        for decorator in reversed(decorators):
            made = frame.machine.decorated(decorator(frame), made)
        frame.bind(node.name, made)

    return run


@statement(ast.Import)
def _import(node: ast.Import) -> Arm:
    def run(frame: Frame) -> None:
        for alias in node.names:
            frame.machine.bring(frame, alias.name, alias.asname)

    return run


@statement(ast.ImportFrom)
def _import_from(node: ast.ImportFrom) -> Arm:
    def run(frame: Frame) -> None:
        module = frame.machine.absolute(frame.module, node.module or "", node.level)
        for alias in node.names:
            frame.machine.bring_from(frame, module, alias.name, alias.asname or alias.name)

    return run
