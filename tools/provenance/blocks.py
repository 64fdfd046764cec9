"""Statements that hold others: loops, try, with."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tools.provenance.expressions import evaluating
from tools.provenance.forks import Arm, Signal, fork, settle
from tools.provenance.raising import EXCEPTIONS
from tools.provenance.scope import Frame
from tools.provenance.statements import carrying_out, statement
from tools.provenance.targets import binding
from tools.provenance.truth import truth
from tools.provenance.values import Class, Extern, Instance, Raised, Unknown, Value


@statement(ast.For)
def _for(node: ast.For | ast.AsyncFor) -> Arm:
    rows, bind = evaluating(node.iter), binding(node.target)
    body, orelse = carrying_out(node.body), carrying_out(node.orelse)
    record_turns = isinstance(node.target, ast.Tuple)

    def turn(frame: Frame, value: Value) -> Signal:
        bind(frame, value)
        if record_turns:
            frame.machine.journal.turn(frame, value)
        return settle(frame, ("continue",), body(frame))

    def run(frame: Frame) -> Signal:
        values = rows(frame)
        if isinstance(values, Unknown):
            arms = (lambda f: turn(f, Unknown(values.why)), lambda _f: None)
            return _loop_end(frame, fork(frame, arms, values.why))
        signal = _turns(frame, frame.machine.iterated(values), turn)
        if record_turns:
            frame.machine.journal.turn(frame, None)
        return _loop_end(frame, signal if signal is not None else orelse(frame))

    return run


def _turns(frame: Frame, values: list[Value], turn: Callable[[Frame, Value], Signal]) -> Signal:
    for value in values:
        if not frame.machine.goes_on():
            break
        signal = turn(frame, value)
        if signal is not None and signal[0] != "continue":
            return signal
    return None


_for_async = statement(ast.AsyncFor)(_for)


def _loop_end(frame: Frame, signal: Signal) -> Signal:
    signal = settle(frame, ("break", "continue"), signal)
    return None if signal is not None and signal[0] in ("break", "continue") else signal


@statement(ast.While)
def _while(node: ast.While) -> Arm:
    test, body, orelse = evaluating(node.test), carrying_out(node.body), carrying_out(node.orelse)

    def run(frame: Frame) -> Signal:
        while frame.machine.goes_on():
            answer = truth(test(frame))
            if isinstance(answer, Unknown):
                return _loop_end(frame, fork(frame, (body, lambda _f: None), answer.why))
            if not answer:
                return _loop_end(frame, orelse(frame))
            signal = settle(frame, ("continue",), body(frame))
            if signal is not None and signal[0] != "continue":
                return _loop_end(frame, signal)
        return None

    return run


Handler = tuple[Callable[[Frame], Value] | None, str | None, Arm]


@statement(ast.Try)
def _try(node: ast.Try) -> Arm:
    body, orelse = carrying_out(node.body), carrying_out(node.orelse)
    last = carrying_out(node.finalbody)
    handlers: list[Handler] = [
        (evaluating(h.type) if h.type else None, h.name, carrying_out(h.body))
        for h in node.handlers
    ]

    def attempt(frame: Frame) -> Signal:
        try:
            signal = body(frame)
        except Raised as error:
            return _handled(frame, handlers, error)
        return signal if signal is not None else orelse(frame)

    def run(frame: Frame) -> Signal:
        try:
            signal = attempt(frame)
        except Raised:
            last(frame)
            raise
        return last(frame) or signal

    return run


def _handled(frame: Frame, handlers: list[Handler], error: Raised) -> Signal:
    for kind, name, body in handlers:
        caught = kind(frame) if kind else None
        if kind is None or catches(caught, error.value):
            frame.names[".caught"] = error.value
            if name:
                frame.bind(name, error.value)
            return body(frame)
    raise error


def catches(kind: Value, value: Value) -> bool:
    """Whether `except kind` catches an exception; what lies outside is caught by its name alone."""
    if isinstance(kind, tuple):
        return any(catches(each, value) for each in kind)
    cls = value.cls if isinstance(value, Instance) else value
    if isinstance(kind, Class) and isinstance(cls, Class):
        return any(each is kind for each in cls.lineage())
    if isinstance(kind, Extern) and isinstance(cls, Class):
        return kind.path.rsplit(".", 1)[-1] in {each.name for each in cls.lineage()}
    return isinstance(kind, Class) and kind in (
        EXCEPTIONS["Exception"],
        EXCEPTIONS["BaseException"],
    )


@statement(ast.With)
def _with(node: ast.With | ast.AsyncWith) -> Arm:
    items = [
        (evaluating(i.context_expr), binding(i.optional_vars) if i.optional_vars else None)
        for i in node.items
    ]
    body = carrying_out(node.body)

    def run(frame: Frame) -> Signal:
        entered = []
        for context, bind in items:
            manager = context(frame)
            entered.append(manager)
            value = frame.machine.entered(manager)
            if bind is not None:
                bind(frame, value)
        try:
            return body(frame)
        finally:
            for manager in reversed(entered):
                frame.machine.left(manager)

    return run


_with_async = statement(ast.AsyncWith)(_with)
