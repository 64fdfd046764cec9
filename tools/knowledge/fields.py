"""The names an engine gives its arguments: which exist in which version, and which may be shown.

This is the allow-list behind every look at arguments: a name that is not here, or that may hold a
secret, keeps its name and loses its value. The data lies in fields.txt and fields_vllm.txt.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

Kind = Literal["v", "l", "s", "d", "x"]  # value, list, switch, derived (no flag), secret


@dataclass(frozen=True)
class Field:
    """One argument of an engine; `aliases` are other names of its flag, without dashes."""

    name: str
    kind: Kind
    first: str = ""
    last: str = ""
    aliases: tuple[str, ...] = ()


def _lines(name: str) -> list[list[str]]:
    text = (files(__package__) / name).read_text(encoding="utf-8")
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


def _kind(text: str) -> Kind:
    kinds: dict[str, Kind] = {"v": "v", "l": "l", "s": "s", "d": "d", "x": "x"}
    return kinds[text]


@cache
def sglang_fields() -> dict[str, Field]:
    """Return the fields of SGLang's ServerArgs over its versions, by name."""
    return {
        name: Field(name, _kind(kind), first, last, tuple(more[0].split(",")) if more else ())
        for name, first, last, kind, *more in _lines("fields.txt")
    }


@cache
def vllm_fields() -> dict[str, Field]:
    """Return the arguments of vLLM's server that bear on speed, by name."""
    return {
        name: Field(name, _kind(kind), aliases=tuple(more[0].split(",")) if more else ())
        for name, kind, *more in _lines("fields_vllm.txt")
    }


@cache
def public_names() -> frozenset[str]:
    """Return the names of both engines whose values may be kept; a secret of one is one of both."""
    every = [*sglang_fields().values(), *vllm_fields().values()]
    secret = {field.name for field in every if field.kind == "x"}
    return frozenset(field.name for field in every) - secret


@cache
def prelude() -> str:
    """Return Python text that gives a script on a host the same allow-list of names."""
    every = [*sglang_fields().values(), *vllm_fields().values()]
    aliases = {alias.replace("-", "_") for field in every for alias in field.aliases}
    secret = {field.name for field in every if field.kind == "x"}
    return _sets(PUBLIC_NAMES=(public_names() | aliases) - secret, SECRET_NAMES=secret)


def _sets(**named: Iterable[str]) -> str:
    return "".join(
        f'{name} = frozenset("""{" ".join(sorted(words))}""".split())\n'
        for name, words in named.items()
    )
