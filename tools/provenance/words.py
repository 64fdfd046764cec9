"""Conditions and log calls of the source in words a person reads."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tools.provenance.guards import Guard

_OWNERS = frozenset(("self", "cfg", "view", "server_args", "args", "sa"))
_SIGNS = {
    ast.Eq: "is", ast.NotEq: "is not", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "is one of", ast.NotIn: "is none of", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
_OPPOSITE = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE,
    ast.LtE: ast.Gt, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_LONGEST = 300
_LEVELS = frozenset(("debug", "info", "warning", "warn", "error", "critical", "exception"))


def condition(guards: Iterable[Guard]) -> str:
    """Return all guards of a site as one condition; "always" where there are none."""
    parts = list(dict.fromkeys(told(guard.test, holds=guard.holds) for guard in guards))
    return " and ".join(parts) or "always"


def told(node: ast.expr, *, holds: bool = True) -> str:
    """Return a condition in words, or its opposite."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return told(node.operand, holds=not holds)
    if isinstance(node, ast.BoolOp):
        both = isinstance(node.op, ast.And) is holds
        parts = [told(value, holds=holds) for value in node.values]
        text = (" and " if both else " or ").join(parts)
        return text if both else f"({text})"
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _compared(node, holds=holds)
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        return f"{_named(node.func)}() {'holds' if holds else 'does not hold'}"
    return f"{_named(node)} {'holds' if holds else 'does not hold'}"


def _compared(node: ast.Compare, *, holds: bool) -> str:
    kind = type(node.ops[0]) if holds else _OPPOSITE[type(node.ops[0])]
    left, right = _named(node.left), _named(node.comparators[0])
    if right == "None":
        return f"{left} is {'not set' if kind in (ast.Is, ast.Eq) else 'set'}"
    return f"{left} {_SIGNS[kind]} {right}"


def _named(node: ast.expr) -> str:
    owner = node.value if isinstance(node, ast.Attribute) else None
    if isinstance(node, ast.Attribute) and isinstance(owner, ast.Name) and owner.id in _OWNERS:
        return node.attr
    text = " ".join(ast.unparse(node).split())
    for prefix in ("self.", "cfg.", "view.", "server_args."):
        text = text.replace(prefix, "")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def logged(block: Iterable[ast.stmt]) -> str | None:
    """Return the text of the first log call among statements; {} stands for what is filled in."""
    for node in block:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            text = log_text(node.value)
            if text is not None:
                return text
    return None


def log_text(call: ast.Call) -> str | None:
    """Return the text of a log call, or None where it is none."""
    function = call.func
    if isinstance(function, ast.Attribute) and function.attr in _LEVELS and call.args:
        owner = ast.unparse(function.value)
        return literal(call.args[0]) if "log" in owner.lower() else None
    if isinstance(function, ast.Name) and ("log" in function.id or "warn" in function.id):
        texts = [literal(arg) for arg in call.args]
        return next((text for text in texts if text), None)
    return None


def literal(node: ast.expr) -> str | None:
    """Return a text of the source; {} stands for what is filled in."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(
            literal(p) or "{}" if isinstance(p, ast.Constant) else "{}" for p in node.values
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return f"{literal(node.left) or '{}'}{literal(node.right) or '{}'}"
    return None
