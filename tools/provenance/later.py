"""Writes after the arguments are resolved: in schedulers and model runners, which have their own copies."""

from __future__ import annotations

import re

from tools.provenance.expressions import evaluating
from tools.provenance.machine import Machine
from tools.provenance.scope import Frame
from tools.provenance.sites import Site
from tools.provenance.tree import Tree
from tools.provenance.truth import truth
from tools.provenance.values import Class, Extern, Instance, Raised, Unknown, Value

_PRESENT = Class("ServerArgs", (Extern("engine.ServerArgs"),), {})
_ENGINE = Class("engine", (Extern("engine.object"),), {})
_CALL = re.compile(r"(\w+)\(")
_RESOLVING = ("sglang/srt/server_args.py", "sglang/srt/arg_groups/")


def is_later(machine: Machine, site: Site) -> bool:
    """Whether a site is in code that the resolver of arguments does not call."""
    if site.path.startswith(_RESOLVING) or (site.path, site.function) in machine.journal.reached:
        return False
    return site.function not in _called(machine.tree)


def _called(tree: Tree) -> frozenset[str]:
    """Return the names that the resolver's own files call."""
    if tree.called is None:
        own = (tree.text(path) for path in tree.texts if path.startswith(_RESOLVING))
        tree.called = frozenset(name for text in own for name in _CALL.findall(text))
    return tree.called


def excluded(machine: Machine, values: dict[str, Value], site: Site) -> bool:
    """Whether a later write surely does not happen: a condition of it fails on the resolved values."""
    record = Instance(_PRESENT)
    record.attrs.update(values)
    owner = Instance(_ENGINE)
    owner.attrs["server_args"] = record
    module = machine.imports.module(site.path.removesuffix(".py").replace("/", "."))
    if module is None:
        return False
    frame = Frame(machine, module, None, {"self": owner, "server_args": record})
    return any(_fails(frame, guard.test, holds=guard.holds) for guard in site.guards)


def _fails(frame: Frame, test: Value, *, holds: bool) -> bool:
    machine = frame.machine
    machine.stack.append(frame)
    try:
        answer = truth(evaluating(test)(frame))
    except Raised:
        return False
    finally:
        machine.stack.pop()
    return answer is (not holds) if not isinstance(answer, Unknown) else False
