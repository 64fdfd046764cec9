"""Flags of the installed version, from its source: what argparse would list, and what is deprecated."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from tools.provenance.answer import plain
from tools.provenance.commandline import Declared
from tools.provenance.resolver import declared_flags
from tools.provenance.tree import Tree
from tools.provenance.values import (
    MISSING,
    Class,
    Extern,
    Function,
    Instance,
    Native,
    Unknown,
    Value,
)

Takes = Literal["nothing", "a value", "values"]
_TOGGLE = Extern("argparse.BooleanOptionalAction")  # --x and --no-x
_SILENT = ("store_true", "store_false", "store_const", "count")


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag: all its names, the field it fills, and what is said of it."""

    names: tuple[str, ...]
    dest: str
    default: Any
    choices: tuple[Any, ...]
    help: str
    deprecated: bool
    takes: Takes = "a value"
    type: str | None = None  # int, float or str; None where the source converts by itself
    instead: str = ""  # what the source says to use in place of a deprecated one


def flags_of(tree: Tree) -> list[Flag]:
    """Return every flag in the order of the source."""
    return [_flag(each) for each in declared_flags(tree)]


def _flag(each: Declared) -> Flag:
    text = each.keywords.get("help")
    told = " ".join(text.split()) if isinstance(text, str) else ""
    action = each.keywords.get("action")
    instead = each.keywords.get("new_flag")
    return Flag(
        _names(each.names, action),
        each.dest,
        _default(each.keywords, action),
        tuple(_choices(each.keywords.get("choices"))),
        told,
        "deprecated" in told.lower()[:40] or _named(action).startswith("Deprecated"),
        _takes(each.keywords, action),
        _type(each.keywords.get("type")),
        instead if isinstance(instead, str) else "",
    )


def _names(names: tuple[str, ...], action: Value) -> tuple[str, ...]:
    """Return the names as argparse lists them: a toggle has its negations among them."""
    if action != _TOGGLE:
        return names
    pairs = [(n, f"--no-{n[2:]}") if n.startswith("--") else (n,) for n in names]
    return tuple(name for pair in pairs for name in pair)


def _default(keywords: dict[str, Value], action: Value) -> Any:
    value = keywords.get("default", MISSING)
    if value is MISSING and action in ("store_true", "store_false"):
        return action == "store_false"
    if value is MISSING and isinstance(action, Class):
        value = _of_action(action, "default")
    return None if isinstance(value, Extern) or value is MISSING else plain(value)


def _of_action(action: Class, name: str) -> Value:
    """Return what an action of the source's own takes for an argument that is not given."""
    made = action.find("__init__")
    if not isinstance(made, Function):
        return MISSING
    arguments = made.node.args
    last = [one.arg for one in (*arguments.posonlyargs, *arguments.args)][-len(made.defaults) :]
    defaults = dict(zip(last, made.defaults, strict=False)) if made.defaults else {}
    return (defaults | made.keyword_defaults).get(name, MISSING)


def _takes(keywords: dict[str, Value], action: Value) -> Takes:
    nargs = keywords.get("nargs", MISSING)
    if nargs is MISSING and isinstance(action, Class):
        nargs = _of_action(action, "nargs")
    if action in _SILENT or action == _TOGGLE or nargs == 0:
        return "nothing"
    return "values" if nargs in ("+", "*") or (isinstance(nargs, int) and nargs > 1) else "a value"


def _type(kind: Value) -> str | None:
    if kind is None:
        return "str"
    return kind.name if isinstance(kind, Native) and kind.name in ("int", "float", "str") else None


def _choices(choices: Value) -> Iterable[Any]:
    if choices is None or isinstance(choices, (Unknown, Extern)):
        return ()
    return [plain(c) for c in (sorted(choices) if isinstance(choices, set) else choices)]


def _named(action: Value) -> str:
    if isinstance(action, Class):
        return action.name
    return action.cls.name if isinstance(action, Instance) else ""


def field_of(flags: Iterable[Flag], name: str, fields: Container[str]) -> str:
    """Return which of these fields a name means: itself, a flag, another name of it, or the only one that begins so.

    A flag fills the field of its dest, or of another of its names: --tensor-parallel-size fills tp_size.
    "" where a name means none.
    """
    word = name.lstrip("-").replace("-", "_")
    known = list(flags)
    named = [flag for flag in known if word in (flag.dest, *_words(flag))]
    if not named and word:  # as argparse has it: --tp
        begun = [flag for flag in known if any(one.startswith(word) for one in _words(flag))]
        named = begun if len(begun) == 1 else []
    meant = [word, *(one for flag in named for one in (flag.dest, *_words(flag)))]
    return next((one for one in meant if one in fields), "")


def _words(flag: Flag) -> tuple[str, ...]:
    return tuple(name.lstrip("-").replace("-", "_") for name in flag.names)
