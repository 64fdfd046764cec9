"""Operators of the source: conditions that may stay undecided, and arithmetic."""

from __future__ import annotations

import ast

from tools.provenance.comparisons import COMPARE, opposite
from tools.provenance.expressions import Eval, evaluating, expression
from tools.provenance.forks import alternatives
from tools.provenance.operators import unary
from tools.provenance.scope import Frame
from tools.provenance.truth import truth
from tools.provenance.values import Raised, Unknown, Value


@expression(ast.NamedExpr)
def _walrus(node: ast.NamedExpr) -> Eval:
    value, name = evaluating(node.value), node.target.id

    def bind(frame: Frame) -> Value:
        found = value(frame)
        frame.bind(name, found)
        return found

    return bind


@expression(ast.IfExp)
def _ternary(node: ast.IfExp) -> Eval:
    test, body, orelse = evaluating(node.test), evaluating(node.body), evaluating(node.orelse)

    def choose(frame: Frame) -> Value:
        answer = truth(test(frame))
        if isinstance(answer, Unknown):
            return alternatives(frame, (body, orelse), answer.why)
        return body(frame) if answer else orelse(frame)

    return choose


@expression(ast.BoolOp)
def _bool_op(node: ast.BoolOp) -> Eval:
    parts = [evaluating(part) for part in node.values]
    decides = isinstance(node.op, ast.Or)

    def decide(frame: Frame) -> Value:
        doubt: list[Unknown] = []
        value: Value = None
        for part in parts:
            try:
                value = part(frame)
            except Raised:
                if not doubt:
                    raise
                return Unknown(doubt[0].why)
            answer = truth(value)
            if isinstance(answer, Unknown):
                doubt.append(value if isinstance(value, Unknown) else answer)
            elif answer is decides:
                return value
        return _undecided(doubt, value, decides=decides)

    return decide


def _undecided(doubt: list[Unknown], last: Value, *, decides: bool) -> Value:
    if not doubt:
        return last
    why = tuple(reason for unknown in doubt for reason in unknown.why)
    if len(doubt) == 1 and doubt[0] is last:
        return last
    return Unknown(why, (True, last) if decides and not isinstance(last, Unknown) else None)


@expression(ast.UnaryOp)
def _unary(node: ast.UnaryOp) -> Eval:
    value, kind = evaluating(node.operand), type(node.op)
    if kind is ast.Not:
        return lambda frame: opposite(truth(value(frame)))
    return lambda frame: unary(kind, value(frame))


@expression(ast.BinOp)
def _binary(node: ast.BinOp) -> Eval:
    left, right, kind = evaluating(node.left), evaluating(node.right), type(node.op)
    return lambda frame: frame.machine.operated(kind, left(frame), right(frame))


@expression(ast.Compare)
def _compare(node: ast.Compare) -> Eval:
    first = evaluating(node.left)
    rest = [(type(o), evaluating(c)) for o, c in zip(node.ops, node.comparators, strict=True)]

    def hold(frame: Frame) -> Value:
        left: Value = first(frame)
        answer: bool | Unknown = True
        doubt: Unknown | None = None
        for kind, part in rest:
            right = part(frame)
            answer = frame.machine.compared(COMPARE[kind], kind, left, right)
            if answer is False:
                return False
            doubt = answer if isinstance(answer, Unknown) else doubt
            left = right
        return doubt or answer

    return hold
