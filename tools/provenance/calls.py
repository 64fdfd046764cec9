"""Calls of the source: arguments are matched to parameters, the body is followed, its end is settled."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tools.provenance.expressions import Eval, evaluating, expression
from tools.provenance.forks import Signal, finish, rescue, settle
from tools.provenance.raising import raised
from tools.provenance.scope import Frame
from tools.provenance.statements import carrying_out
from tools.provenance.values import Function, Raised, Record, Unknown, Value

if TYPE_CHECKING:
    from tools.provenance.machine import Machine

DEPTH = 80  # of calls inside calls
FORKS = 8  # undecided branches inside each other
CALLS = 400_000  # of one following; 0.5.23 takes some 60 000


@expression(ast.Call)
def _call(node: ast.Call) -> Eval:
    callee = evaluating(node.func)
    given = [
        (evaluating(a.value), True) if isinstance(a, ast.Starred) else (evaluating(a), False)
        for a in node.args
    ]
    named = [(k.arg, evaluating(k.value), k.value.lineno) for k in node.keywords]
    line = node.lineno
    zero_super = isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args

    def call(frame: Frame) -> Value:
        if zero_super:
            return frame.machine.super_of(frame)
        function = callee(frame)
        args: list[Value] = []
        for value, starred in given:
            found = value(frame)
            args += frame.machine.iterated(found) if starred else [found]
        keywords = _keywords(frame, named) if named else Record()
        frame.line = line
        return frame.machine.call(function, args, keywords)

    return call


def _keywords(frame: Frame, named: Sequence[tuple[str | None, Eval, int]]) -> Record:
    keywords = Record()
    for name, value, line in named:
        found = value(frame)
        if name is None:
            frame.machine.merge(keywords, found)
        else:
            keywords[name] = found
            keywords.born[name] = frame.machine.place(frame, line)
    return keywords


class Code:
    """What is made once of a function's syntax: parameters, and the body ready to be followed."""

    def __init__(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        parameters = node.args
        self.positional = [p.arg for p in (*parameters.posonlyargs, *parameters.args)]
        self.keyword_only = [p.arg for p in parameters.kwonlyargs]
        self.rest = parameters.vararg.arg if parameters.vararg else None
        self.keywords = parameters.kwarg.arg if parameters.kwarg else None
        self.named = {*(p.arg for p in parameters.args), *self.keyword_only}
        self.body: Callable[[Frame], Signal] = _body(node)
        self.yields = not isinstance(node, ast.Lambda) and _yields(node.body)


def _body(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
) -> Callable[[Frame], Signal]:
    if isinstance(node, ast.Lambda):
        value, line = evaluating(node.body), node.body.lineno

        def give(frame: Frame) -> Signal:
            frame.line = line
            return "return", value(frame)

        return give
    return carrying_out(node.body)


def _yields(body: Sequence[ast.AST]) -> bool:
    """Whether statements yield, those of functions inside them aside."""
    open_nodes: list[ast.AST] = list(body)
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            open_nodes.extend(ast.iter_child_nodes(node))
    return False


def invoke(
    frame_of: Callable[[Function, dict[str, Value]], Frame],
    function: Function,
    args: Sequence[Value],
    keywords: Record,
) -> Value:
    """Follow a function of the source with these arguments and return what it returns."""
    made = function.scope.machine.tree.codes
    code: Code | None = made.get(function.node)
    if code is None:
        code = made[function.node] = Code(function.node)
    names = bound(function, code, args, keywords)
    frame = frame_of(function, names)
    machine = frame.machine
    if _too_far(machine, function):
        return Unknown((f"{function.name}() is too much to follow",))
    machine.tree.pause()
    machine.calls += 1
    machine.journal.reached.add((frame.module.path, function.name))
    machine.stack.append(frame)
    frame.sent = [] if code.yields else None
    try:
        signal = settle(frame, ("return", "break", "continue"), code.body(frame))
    except Raised as error:
        signal = rescue(frame, error)
    finally:
        machine.stack.pop()
        finish(frame)
    if frame.sent is not None:
        return frame.sent
    return signal[1] if signal is not None else None


def _too_far(machine: Machine, function: Function) -> bool:
    """Whether to stop: too deep, too long, or a recursion whose end is not known."""
    if len(machine.stack) >= DEPTH or machine.calls >= CALLS or machine.forks >= FORKS:
        return True
    return machine.forks > 0 and any(frame.function is function for frame in machine.stack)


def bound(
    function: Function, code: Code, args: Sequence[Value], keywords: Record
) -> dict[str, Value]:
    """Return the parameters by name; raise Raised(TypeError) where they do not fit."""
    names: dict[str, Value] = dict(zip(code.positional, args, strict=False))
    extra = Record()
    for name, value in keywords.items():
        if name in code.named and name not in names:
            names[name] = value
        elif code.keywords:
            extra[name] = value
            if name in keywords.born:
                extra.born[name] = keywords.born[name]
        else:
            raise raised("TypeError", f"{function.name}() has no parameter {name!r} to give")
    if code.rest:
        names[code.rest] = tuple(args[len(code.positional) :])
    elif len(args) > len(code.positional):
        raise raised("TypeError", f"{function.name}() takes {len(code.positional)} arguments")
    if code.keywords:
        names[code.keywords] = extra
    _fill(function, code, names)
    return names


def _fill(function: Function, code: Code, names: dict[str, Value]) -> None:
    late = code.positional[len(code.positional) - len(function.defaults) :]
    defaults = dict(zip(late, function.defaults, strict=True)) if function.defaults else {}
    for name in (*code.positional, *code.keyword_only):
        if name not in names:
            if name in defaults:
                names[name] = defaults[name]
            elif name in function.keyword_defaults:
                names[name] = function.keyword_defaults[name]
            else:
                raise raised("TypeError", f"{function.name}() lacks its argument {name!r}")
