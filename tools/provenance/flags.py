"""Flags of the installed version, from its source: what argparse would list, and what is deprecated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tools.provenance.answer import plain
from tools.provenance.commandline import Declared
from tools.provenance.resolver import declared_flags
from tools.provenance.tree import Tree
from tools.provenance.values import MISSING, Class, Extern, Instance, Unknown, Value


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag: all its names, the field it fills, and what is said of it."""

    names: tuple[str, ...]
    dest: str
    default: Any
    choices: tuple[Any, ...]
    help: str
    deprecated: bool


def flags_of(tree: Tree) -> list[Flag]:
    """Return every flag in the order of the source."""
    return [_flag(each) for each in declared_flags(tree)]


def _flag(each: Declared) -> Flag:
    text = each.keywords.get("help")
    told = " ".join(text.split()) if isinstance(text, str) else ""
    action = each.keywords.get("action")
    return Flag(
        each.names,
        each.dest,
        _default(each.keywords, action),
        tuple(_choices(each.keywords.get("choices"))),
        told,
        "deprecated" in told.lower()[:40] or _named(action).startswith("Deprecated"),
    )


def _default(keywords: dict[str, Value], action: Value) -> Any:
    value = keywords.get("default", MISSING)
    if value is MISSING and action in ("store_true", "store_false"):
        return action == "store_false"
    return None if isinstance(value, Extern) else plain(value)


def _choices(choices: Value) -> Iterable[Any]:
    if choices is None or isinstance(choices, (Unknown, Extern)):
        return ()
    return [plain(c) for c in (sorted(choices) if isinstance(choices, set) else choices)]


def _named(action: Value) -> str:
    if isinstance(action, Class):
        return action.name
    return action.cls.name if isinstance(action, Instance) else ""


def field_of(flags: Iterable[Flag], name: str) -> str:
    """Return the field that a name means: a field itself, a flag, or one of its other names."""
    word = name.lstrip("-").replace("_", "-")
    for flag in flags:
        if f"--{word}" in flag.names:
            return flag.dest
    return word.replace("-", "_")
