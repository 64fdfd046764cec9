"""Write sites: every place of the source that can set a field of the server's arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tools.errors import Unreadable
from tools.provenance.guards import Guard, Reached, statements
from tools.provenance.tree import Tree
from tools.provenance.words import logged
from tools.provenance.writers import can_write, writer_of

_RECORD = "ServerArgs"
_OVERRIDES = re.compile(r"sglang/srt/.*overrides.*\.py")
_DRAFTS = ("/speculative/",)  # workers there set fields of the draft's arguments and put them back
_COPIES = frozenset(("deepcopy", "copy", "replace"))
_DECLARES = re.compile(r"^(declare_\w+|override|\w*_override)$")
_VIEWS = frozenset(("overrides", "declared", "updates", "result", "defaults", "changes"))


@dataclass(frozen=True, slots=True)
class Site:
    """One place that can write a field; `shape` says how, `source` by which declared name."""

    field: str
    path: str
    line: int
    shape: str
    guards: tuple[Guard, ...]
    source: str | None = None
    log: str | None = None
    function: str = ""
    value: ast.expr | None = None


@dataclass(slots=True)
class _Scope:
    aliases: set[str]
    copies: set[str]
    backups: dict[str, str]


def writing_paths(tree: Tree, only: str | None = None) -> list[str]:
    """Return the engine's files that can hold a write site, of `only` one field where it is told."""
    if tree.writing is not None:
        return tree.writing
    found = _writing(tree, tree.where(only) if only else frozenset(tree.texts))
    if only is None:
        tree.writing = found
    return found


def _writing(tree: Tree, paths: frozenset[str]) -> list[str]:
    named = tree.where("server_args")
    near = sorted(path for path in paths if path in named or _OVERRIDES.fullmatch(path))
    tree.bring(near)
    return [path for path in near if can_write(tree.text(path))]


def sites_of(tree: Tree, fields: frozenset[str], only: str | None = None) -> list[Site]:
    """Return all write sites of these fields; `only` one of them is looked for, which is quicker."""
    found: list[Site] = []
    writes = writer_of(only) if only else None
    wanted = frozenset((only,)) if only else fields
    for path in writing_paths(tree, only):
        if writes is None or writes(tree.texts[path]):
            found += sites_in(tree, path, wanted)
    return found


def sites_in(tree: Tree, path: str, fields: frozenset[str]) -> list[Site]:
    """Return the write sites of one file; backups, restores and draft copies are none."""
    if any(part in path for part in _DRAFTS):
        return []
    try:
        reached = list(statements(tree.parsed(path)))
    except Unreadable:
        return []
    scopes: dict[int, _Scope] = {}
    found: list[tuple[int, Site]] = []
    restored: set[tuple[int, str]] = set()
    for each in reached:
        key = id(each.functions[-1]) if each.functions else 0
        scope = scopes.setdefault(key, _Scope(set(), set(), {}))
        _note(each.node, scope, fields)
        for site in _writes(each, scope, path, fields):
            if isinstance(site.value, ast.Name) and scope.backups.get(site.value.id) == site.field:
                restored.add((key, site.field))
            found.append((key, site))
    return [site for key, site in found if (key, site.field) not in restored]


def _note(node: ast.stmt, scope: _Scope, fields: frozenset[str]) -> None:
    """Remember local names: aliases of the arguments, copies of them, values kept for later."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return
    target, value = node.targets[0], node.value
    if not isinstance(target, ast.Name):
        return
    if isinstance(value, ast.Call) and ast.unparse(value.func).rsplit(".", 1)[-1] in _COPIES:
        scope.copies.add(target.id)
    elif _is_record(value, scope, None):
        scope.aliases.add(target.id)
    elif isinstance(value, ast.Attribute) and value.attr in fields:
        scope.backups[target.id] = value.attr


def _is_record(node: ast.expr, scope: _Scope, cls: str | None) -> bool:
    """Whether an expression stands for the server's arguments."""
    if isinstance(node, ast.Name):
        if node.id in scope.copies:
            return False
        return (
            node.id == "server_args"
            or node.id in scope.aliases
            or (node.id == "self" and cls == _RECORD)
        )
    if isinstance(node, ast.Attribute):
        return node.attr == "server_args"
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("server_args")


def _field_written(
    target: ast.expr, scope: _Scope, cls: str | None, fields: frozenset[str]
) -> tuple[str, str] | None:
    """Return the field and the shape of a write to an attribute, or to one nested in a field."""
    chain: list[str] = []
    node = target
    while isinstance(node, ast.Attribute):
        chain.append(node.attr)
        node = node.value
        if _is_record(node, scope, cls):
            name = chain[-1]
            return (name, "nested" if len(chain) > 1 else "attribute") if name in fields else None
    return None


def _writes(each: Reached, scope: _Scope, path: str, fields: frozenset[str]) -> Iterator[Site]:
    for field, line, shape, value, source in _found(each, scope, fields):
        function = each.functions[-1].name if each.functions else ""
        log = logged(each.block)
        yield Site(field, path, line, shape, each.guards, source, log, function, value)


_Found = tuple[str, int, str, ast.expr | None, str | None]


def _found(each: Reached, scope: _Scope, fields: frozenset[str]) -> Iterator[_Found]:
    node = each.node
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        yield from _assigned(node, each, scope, fields)
    for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
        yield from _called(call, scope, each.cls, fields)
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Dict) and _provides(each):
        yield from _keys(node.value, each, fields)


def _assigned(
    node: ast.Assign | ast.AugAssign | ast.AnnAssign,
    each: Reached,
    scope: _Scope,
    fields: frozenset[str],
) -> Iterator[_Found]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in _flat(targets):
        written = _field_written(target, scope, each.cls, fields)
        if written is not None:
            yield written[0], target.lineno, written[1], node.value, None
        key = _key_of(target)
        if key in fields and _provides(each):
            yield str(key), target.lineno, "override", node.value, _provider(each)
    if isinstance(node.value, ast.Dict) and _provides(each):
        yield from _keys(node.value, each, fields)


def _flat(targets: Iterable[ast.expr]) -> Iterator[ast.expr]:
    for target in targets:
        if isinstance(target, (ast.Tuple, ast.List)):
            yield from _flat(target.elts)
        else:
            yield target


def _key_of(target: ast.expr) -> str | None:
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        key = target.slice
        if target.value.id in _VIEWS and isinstance(key, ast.Constant):
            return key.value if isinstance(key.value, str) else None
    return None


def _provides(each: Reached) -> bool:
    """Whether a function is a registered provider of overrides, or returns them to one."""
    if not each.functions:
        return False
    function = each.functions[-1]
    decorated = any("register" in ast.unparse(d) for d in function.decorator_list)
    return decorated or "override" in function.name or "default" in function.name


def _provider(each: Reached) -> str | None:
    function = each.functions[-1]
    return function.name if function.decorator_list else None


def _keys(node: ast.Dict, each: Reached, fields: frozenset[str]) -> Iterator[_Found]:
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and key.value in fields:
            yield str(key.value), key.lineno, "override", value, _provider(each)


def _called(
    call: ast.Call, scope: _Scope, cls: str | None, fields: frozenset[str]
) -> Iterator[_Found]:
    name = ast.unparse(call.func).rsplit(".", 1)[-1]
    if name == "setattr" and len(call.args) == 3 and _is_record(call.args[0], scope, cls):
        key = call.args[1]
        if isinstance(key, ast.Constant) and key.value in fields:
            yield str(key.value), call.lineno, "setattr", call.args[2], None
    elif _DECLARES.match(name):
        source = next((a.value for a in call.args if isinstance(a, ast.Constant)), None)
        named = source if isinstance(source, str) else None
        for keyword in call.keywords:
            if keyword.arg in fields:
                yield str(keyword.arg), keyword.value.lineno, "declared", keyword.value, named
