"""What is wrong with the settings, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tools.errors import ToolsError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_LISTS = {"models": "model", "summaries": "summary"}  # what each of them is
_SHAPES = ("tuple_type", "dict_type", "model_type")
_WORDS = {
    "extra_forbidden": "is unknown here; see how it is spelt",
    "missing": "is missing",
    "tuple_type": "must be a list",
}


class SettingsError(ToolsError):
    """hosts.toml or the environment says something that cannot be used."""


def told(fault: ErrorDetails) -> str:
    """Say where in hosts.toml something cannot be used, and why, in the words of the file."""
    place, kind = fault["loc"], fault["type"]
    said = fault["msg"].removeprefix("Value error, ").removeprefix("Input ")
    if not place:
        return said
    table, field = _table(place)
    if kind in _SHAPES and not field:
        one = _LISTS.get(str(place[0]))
        whole = f"each {one} is a table [[{place[0]}]] of its own, in double brackets"
        return whole if one else f"{table} must be a table"
    if kind in _WORDS:
        return f"{table}: {field} {_WORDS[kind]}"
    return f"{table}: {field}{': ' if field else ''}{said}"


def _table(place: Sequence[int | str]) -> tuple[str, str]:
    """Return the table, as it is written in the file, and what of it is meant."""
    name, *rest = place
    table = f"[{name}]"
    if name in _LISTS:
        table = f"[[{name}]] no. {int(rest.pop(0)) + 1}" if rest else f"[[{name}]]"
    elif name == "hosts" and rest:
        table = f"[hosts.{rest.pop(0)}]"
    return table, ".".join(map(str, rest))
