"""argparse, as the followed source uses it: the flags it adds, and how a command line is read by them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from tools.provenance.raising import raised, told
from tools.provenance.understood import Call, base, known
from tools.provenance.values import (
    MISSING,
    Class,
    Extern,
    Instance,
    Native,
    Raised,
    Record,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from tools.provenance.machine import Machine

_PARSER = Class("ArgumentParser", (), {}, "ArgumentParser")
_NAMESPACE = Class("Namespace", (), {}, "Namespace")
_ACTION_FIELDS = (
    "option_strings",
    "dest",
    "nargs",
    "const",
    "default",
    "type",
    "choices",
    "required",
    "help",
    "metavar",
)
_TYPES: dict[str, Any] = {"str": str, "int": int, "float": float, "bool": bool}


@dataclass(frozen=True, slots=True)
class Declared:
    """One add_argument() of the source: its names and what was said of it."""

    names: tuple[str, ...]
    keywords: dict[str, Value]

    @property
    def dest(self) -> str:
        """Return the field it fills, as argparse derives it."""
        given = self.keywords.get("dest")
        if isinstance(given, str):
            return given
        longest = next((n for n in self.names if n.startswith("--")), self.names[0])
        return longest.lstrip("-").replace("-", "_")


@known("argparse.ArgumentParser")
def _new_parser(_machine: Machine, _args: list[Value], _named: Record) -> Value:
    made = Instance(_PARSER)
    made.attrs["declared"] = []
    return made


def _method(name: str) -> Callable[[Call], Call]:
    def register(function: Call) -> Call:
        _PARSER.attrs[name] = Native(name, function, lenient=True)
        return function

    return register


@_method("add_argument")
def _add(_machine: Machine, args: list[Value], named: Record) -> Value:
    parser, names = args[0], tuple(str(name) for name in args[1:])
    parser.attrs["declared"].append(Declared(names, dict(named)))
    return Extern("argparse.Action")


@_method("add_argument_group")
@_method("add_mutually_exclusive_group")
def _group(_machine: Machine, args: list[Value], _named: Record) -> Value:
    return args[0]


@_method("set_defaults")
def _set_defaults(_machine: Machine, _args: list[Value], _named: Record) -> Value:
    return None


@_method("parse_args")
def _parse(machine: Machine, args: list[Value], _named: Record) -> Value:
    words = args[1] if len(args) > 1 else []
    if isinstance(words, Unknown):
        return Unknown(words.why)
    namespace = Instance(_NAMESPACE)
    declared, plain = args[0].attrs["declared"], [str(word) for word in words]
    _real(machine, declared).parse_args(plain, _Target(namespace))
    named = Instance(_NAMESPACE)
    _real(machine, declared, without_defaults=True).parse_args(plain, _Target(named))
    machine.passed = set(named.attrs)
    for each in declared:  # --tensor-parallel-size, or --tp-size, fills the field tp_size
        if each.dest in named.attrs:
            machine.passed |= {name.lstrip("-").replace("-", "_") for name in each.names}
    return namespace


@known("argparse.Namespace")
def _namespace(_machine: Machine, _args: list[Value], named: Record) -> Value:
    made = Instance(_NAMESPACE)
    made.attrs.update(named)
    return made


@base("argparse.Action")
def _action_init(_machine: Machine, args: list[Value], named: Record) -> None:
    made = args[0]
    given = dict(zip(_ACTION_FIELDS, args[1:], strict=False)) | dict(named)
    made.attrs.update({name: given.get(name) for name in _ACTION_FIELDS})


class _Target(argparse.Namespace):
    """argparse's namespace, whose attributes are those of the followed one."""

    def __init__(self, namespace: Instance) -> None:
        super().__init__()
        self.__dict__ = namespace.attrs


class _Refusing(argparse.ArgumentParser):
    """argparse itself, which says no with an exception instead of ending the program."""

    def error(self, message: str) -> NoReturn:
        raise raised("SystemExit", message)


def _real(
    machine: Machine, declared: Sequence[Declared], *, without_defaults: bool = False
) -> argparse.ArgumentParser:
    parser = _Refusing(prog="sglang", add_help=False)
    for each in declared:
        keywords = _keywords(machine, each)
        if without_defaults:
            keywords["default"] = argparse.SUPPRESS
        try:
            parser.add_argument(*each.names, **keywords)
        except (ValueError, TypeError, argparse.ArgumentError):
            parser.add_argument(*each.names, dest=each.dest)
    return parser


def _keywords(machine: Machine, each: Declared) -> dict[str, Any]:
    action = each.keywords.get("action")
    kept = {
        name: value
        for name, value in each.keywords.items()
        if name in ("dest", "nargs", "const", "default", "required") and value is not MISSING
    }
    if isinstance(action, str):
        kept["action"] = action
    elif isinstance(action, Class):
        return {**_custom(machine, each, action), "dest": each.dest}
    elif action == Extern("argparse.BooleanOptionalAction"):
        kept["action"] = argparse.BooleanOptionalAction
    if kept.get("action") in ("store_true", "store_false", "store_const"):
        kept.pop("nargs", None)
        return kept
    choices = each.keywords.get("choices")
    if choices is not None and not isinstance(choices, (Unknown, Extern)):
        kept["choices"] = [c.native if isinstance(c, Instance) else c for c in choices]
    if kept.get("action") is not argparse.BooleanOptionalAction:
        kept["type"] = _converting(machine, each.keywords.get("type"))
    return kept


def _converting(machine: Machine, kind: Value) -> Any:
    if kind is None:
        return str
    if isinstance(kind, Native) and kind.name in _TYPES:
        return _TYPES[kind.name]

    def convert(text: str) -> Value:
        try:
            return machine.call(kind, [text], Record())
        except Raised as error:
            raise argparse.ArgumentTypeError(told(error.value)) from None

    return convert


def _custom(machine: Machine, each: Declared, cls: Class) -> dict[str, Any]:
    """Return keywords with a real action that hands over to the source's own."""
    named = Record({k: v for k, v in each.keywords.items() if k != "action"})
    named["dest"] = each.dest
    made = machine.call(cls, [], Record({"option_strings": list(each.names), **named}))
    followed = made.attrs if isinstance(made, Instance) else {}

    class Handing(argparse.Action):
        def __call__(self, _parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
            space = Instance(_NAMESPACE)
            space.attrs = namespace.__dict__
            hook = machine.attribute(made, "__call__")
            words = list(values) if isinstance(values, list) else values
            machine.call(hook, [_new_parser(machine, [], Record()), space, words, option], Record())

    kind = followed.get("type")
    nargs = followed.get("nargs")
    return {
        "action": Handing,
        "nargs": nargs,
        "const": followed.get("const"),
        "default": followed.get("default"),
        "type": _converting(machine, kind) if kind is not None else None,
    }
