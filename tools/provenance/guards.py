"""Guards: under which conditions a statement is reached, by its place in the function alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True, slots=True)
class Guard:
    """One condition, and whether it must hold or must not."""

    test: ast.expr
    holds: bool

    @property
    def key(self) -> tuple[int, int]:
        """Return where the condition stands."""
        return self.test.lineno, self.test.col_offset


@dataclass(frozen=True, slots=True)
class Reached:
    """A statement with the guards around and before it, its own block, and the function it is in."""

    node: ast.stmt
    guards: tuple[Guard, ...]
    block: Sequence[ast.stmt]
    functions: tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]
    cls: str | None


def ends(block: Sequence[ast.stmt]) -> bool:
    """Whether a block surely leaves: it ends in return, raise, continue or break."""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, ast.If):
        return ends(last.body) and ends(last.orelse)
    return isinstance(last, _ENDS)


def statements(tree: ast.Module) -> Iterator[Reached]:
    """Yield every simple statement of a module with its guards."""
    yield from _block(tree.body, (), (), None)


_Functions = tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]


def _block(
    block: Sequence[ast.stmt], guards: tuple[Guard, ...], functions: _Functions, cls: str | None
) -> Iterator[Reached]:
    for node in block:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _block(node.body, (), (*functions, node), cls)
        elif isinstance(node, ast.ClassDef):
            yield from _block(node.body, (), functions, node.name)
        elif isinstance(node, ast.If):
            yield from _block(node.body, (*guards, Guard(node.test, holds=True)), functions, cls)
            yield from _block(node.orelse, (*guards, Guard(node.test, holds=False)), functions, cls)
            guards = (*guards, *_after(node))
        else:
            inner = list(_inner_blocks(node))
            if not inner:
                yield Reached(node, guards, block, functions, cls)
            for each in inner:
                yield from _block(each, guards, functions, cls)


def _after(node: ast.If) -> tuple[Guard, ...]:
    """Return what must be so for the statements after an if one of whose arms leaves."""
    if ends(node.body) and not ends(node.orelse):
        return (Guard(node.test, holds=False),)
    if ends(node.orelse) and not ends(node.body):
        return (Guard(node.test, holds=True),)
    return ()


def _inner_blocks(node: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block:
            yield block
    for handler in getattr(node, "handlers", []):
        yield handler.body
