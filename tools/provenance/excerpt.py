"""The part of a source that a following went through: what was not followed is left out, line numbers stay."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tools.errors import Unreadable
from tools.provenance.tree import Afar, Tree

_SHORT = 3  # lines of a body that are not worth leaving out
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Noticed(Mapping[str, str]):
    """Texts that remember which of them were read, and which were only asked for by name."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self.read: set[str] = set()
        self.named: set[str] = set()

    @staticmethod
    def of(texts: Mapping[str, str]) -> Noticed:
        """Return these texts, be they at hand or far away."""
        return _NoticedAfar(texts) if isinstance(texts, Afar) else Noticed(texts)

    def __getitem__(self, name: str) -> str:
        self.read.add(name)
        return self._texts[name]

    def __contains__(self, name: object) -> bool:
        there = name in self._texts
        if there:
            self.named.add(str(name))
        return there

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


class _NoticedAfar(Noticed):
    def __init__(self, texts: Mapping[str, str]) -> None:
        super().__init__(texts)
        assert isinstance(texts, Afar)  # noqa: S101 - Noticed.of chose it by that
        self.afar: Afar = texts

    @property
    def registers(self) -> frozenset[str]:
        return self.afar.registers

    def holding(self, word: str) -> frozenset[str]:
        return self.afar.holding(word)

    def bring(self, names: Iterable[str]) -> None:
        self.afar.bring(names)


@dataclass(frozen=True)
class Way:
    """What a following went through: files whose syntax it looked at, and those it knows of."""

    followed: frozenset[str]
    known: frozenset[str]

    @classmethod
    def of(cls, tree: Tree, noticed: Noticed) -> Way:
        """Note it, before the source is read for anything else."""
        followed = frozenset(path for path in noticed.read if tree.is_parsed(path))
        return cls(followed, frozenset(noticed.named | noticed.read))


def excerpt(tree: Tree, way: Way, cited: Iterable[tuple[str, int]] = ()) -> dict[str, str]:
    """Return the texts that a following of this tree needs, so that it can be followed again.

    Bodies of functions that were not followed become `...`, unless a line of `cited` (file, line) lies
    in them; every other line stands as it was, where it was. A file that was only asked for by name is
    there and empty.
    """
    lines: dict[str, set[int]] = {}
    for path, line in cited:
        lines.setdefault(path, set()).add(line)
    kept = dict.fromkeys(sorted(way.known | lines.keys()), "")
    for path in kept:
        if not path.endswith(".py"):
            kept[path] = _headers(tree.text(path))
        elif path in lines or path in way.followed:
            kept[path] = _followed(tree, path, lines.get(path, ()))
    return kept


def _headers(text: str) -> str:
    """Return the fields of a package's metadata, without the description after them."""
    return text.partition("\n\n")[0] + "\n"


def _followed(tree: Tree, path: str, cited: Collection[int]) -> str:
    text = tree.text(path)
    try:
        body = tree.parsed(path).body
    except Unreadable:
        return text
    lines = text.split("\n")
    for function in _functions(body):
        if function not in tree.codes and not _holds(function, cited):
            _leave_out(function, lines)
    return "\n".join(lines)


def _functions(body: Iterable[ast.stmt]) -> Iterator[_Function]:
    """Yield the functions of a module and of its classes, those inside of functions aside."""
    for node in body:
        if isinstance(node, _Function):
            yield node
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from _functions(getattr(node, name, ()))
        for handler in getattr(node, "handlers", ()):
            yield from _functions(handler.body)


def _holds(function: _Function, lines: Collection[int]) -> bool:
    last = function.end_lineno or function.lineno
    return any(function.lineno <= line <= last for line in lines)


def _leave_out(function: _Function, lines: list[str]) -> None:
    begin = [function.body[0], *getattr(function.body[0], "decorator_list", ())]
    first, last = min(node.lineno for node in begin), function.body[-1].end_lineno or 0
    special = function.name.startswith("__")  # whether it raises is looked at without calling it
    if special or last - first < _SHORT or first == function.lineno:
        return
    start = lines[first - 1]
    blank = start[: len(start) - len(start.lstrip())]
    lines[first - 1 : last] = [f"{blank}...", *[""] * (last - first)]
