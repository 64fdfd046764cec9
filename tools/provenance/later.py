"""Writes after the arguments are resolved: in schedulers and model runners, which have their own copies."""

from __future__ import annotations

import re

from tools.provenance.expressions import evaluating
from tools.provenance.machine import Machine
from tools.provenance.scope import Frame
from tools.provenance.sites import Site
from tools.provenance.truth import truth
from tools.provenance.values import Class, Extern, Instance, Raised, Unknown, Value

_PRESENT = Class("ServerArgs", (Extern("engine.ServerArgs"),), {})
_ENGINE = Class("engine", (Extern("engine.object"),), {})
_RESOLVING = ("sglang/srt/server_args.py", "sglang/srt/arg_groups/")


def is_later(machine: Machine, site: Site) -> bool:
    """Whether a site is in code that the resolver of arguments does not call."""
    if site.path.startswith(_RESOLVING) or (site.path, site.function) in machine.journal.reached:
        return False
    called = re.compile(rf"\b{re.escape(site.function)}\(")
    return not any(
        called.search(machine.tree.texts[path])
        for path in machine.tree.texts
        if path.startswith(_RESOLVING)
    )


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
