"""Comprehensions of the source: rows, sets, dicts and generators, made at once."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tools.provenance.expressions import Eval, evaluating, expression
from tools.provenance.scope import Frame
from tools.provenance.targets import binding
from tools.provenance.truth import truth
from tools.provenance.values import Record, Unknown, Value

Each = Callable[[Frame], None]


def _looping(generators: list[ast.comprehension], each: Each) -> Callable[[Frame], Unknown | None]:
    """Return what calls `each` for every element; it gives an Unknown if the row is open."""
    first, *rest = generators
    rows, bind = evaluating(first.iter), binding(first.target)
    tests = [evaluating(test) for test in first.ifs]
    inner = _looping(rest, each) if rest else each

    def loop(frame: Frame) -> Unknown | None:
        values = rows(frame)
        if isinstance(values, Unknown):
            return values
        doubt: Unknown | None = None
        for value in frame.machine.iterated(values):
            if not frame.machine.goes_on():
                break
            bind(frame, value)
            answer = _all(frame, tests)
            if isinstance(answer, Unknown):
                doubt = answer
            elif answer:
                doubt = inner(frame) or doubt
        return doubt

    return loop


def _all(frame: Frame, tests: list[Eval]) -> bool | Unknown:
    doubt: Unknown | None = None
    for test in tests:
        answer = truth(test(frame))
        if answer is False:
            return False
        doubt = answer if isinstance(answer, Unknown) else doubt
    return doubt or True


def _row(node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Callable[[Frame], Value]:
    element = evaluating(node.elt)

    def put(frame: Frame) -> None:
        frame.names[".row"].append(element(frame))

    loop = _looping(node.generators, put)

    def build(frame: Frame) -> Value:
        row: list[Value] = []
        inner = Frame(frame.machine, frame.module, frame, {".row": row})
        inner.function, inner.line = frame.function, frame.line
        return loop(inner) or row

    return build


@expression(ast.ListComp)
def _list(node: ast.ListComp) -> Eval:
    return _row(node)


@expression(ast.GeneratorExp)
def _generator(node: ast.GeneratorExp) -> Eval:
    return _row(node)


@expression(ast.SetComp)
def _set(node: ast.SetComp) -> Eval:
    build = _row(node)

    def make(frame: Frame) -> Value:
        row = build(frame)
        return row if isinstance(row, Unknown) else frame.machine.as_set(row)

    return make


@expression(ast.DictComp)
def _dict(node: ast.DictComp) -> Eval:
    key, value, line = evaluating(node.key), evaluating(node.value), node.lineno

    def put(frame: Frame) -> None:
        record = frame.names[".row"]
        name = frame.machine.hashable(key(frame))
        record[name] = value(frame)
        record.born[name] = frame.machine.place(frame, line)

    loop = _looping(node.generators, put)

    def build(frame: Frame) -> Value:
        record = Record()
        inner = Frame(frame.machine, frame.module, frame, {".row": record})
        inner.function, inner.line = frame.function, frame.line
        return loop(inner) or record

    return build
