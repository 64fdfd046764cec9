"""The tools that a model is offered: read-only probes without what only code may choose, and thoughts.

Which fields of a probe a model may fill is listed here, so a new field is ours until somebody says
otherwise. Ports and paths are ours always. So is what would narrow a look that was taken already
(fewer lines, a shorter window): facts of one type are merged, and a narrower look would speak last.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from pydantic import BaseModel

from bot.agent.planning.thinking import OF_THE_SOURCE, THOUGHTS
from tools.probe import Probe
from tools.probes import PROBES

FIELDS: dict[str, tuple[str, ...]] = {
    "SampleGpus": ("seconds",),
    "GrepServerLog": ("text", "pattern", "limit"),
    "ReadSourceLines": ("text",),
}
# They read a file of the person, whose path nobody gave; or they bring sources, which code follows.
NOT_OFFERED = frozenset(
    {"ReadBurst", "ReadRequests", "ReadTrials", "ListSource", "ReadSourceTexts"}
)
_KEPT = ("type", "minimum", "maximum", "enum", "items")  # each ask pays for it; the rest is checked
_FIRST = 75  # characters of what is said of a tool


def tools(asked: Collection[str] = ()) -> list[dict[str, Any]]:
    """Return the schemas of all tools, in the form of the chat-completions API.

    `asked` holds the keys of probes that were put already: of those without a field to fill nothing
    new would come, so they are left out. What needs the engine's source waits until it was looked at.
    """
    followed = any(key.partition("{")[0] == "ReadSourceTexts" for key in asked)
    thoughts = [name for name in THOUGHTS if followed or name not in OF_THE_SOURCE]
    return [*_probes(asked), *(_tool(name, THOUGHTS[name]) for name in thoughts)]


def names(asked: Collection[str] = ()) -> tuple[str, ...]:
    """Return the names of the tools that are offered."""
    return tuple(one["function"]["name"] for one in tools(asked))


def offered(name: str) -> type[Probe[Any]] | None:
    """Return the probe of a name, if a model may ask for it."""
    return None if name in NOT_OFFERED else PROBES.get(name)


def fields_of(name: str) -> tuple[str, ...]:
    """Return the fields of a probe that a model may fill."""
    return FIELDS.get(name, ())


def _probes(asked: Collection[str]) -> Iterator[dict[str, Any]]:
    put = {key.partition("{")[0] for key in asked}
    for name, probe in PROBES.items():
        fields = fields_of(name)
        if name not in NOT_OFFERED and (fields or name not in put):
            yield _tool(name, probe, fields)


def _tool(
    name: str, made: type[BaseModel], fields: Collection[str] | None = None
) -> dict[str, Any]:
    schema = made.model_json_schema()
    every = schema.get("properties", {})
    chosen = {one: _property(every[one]) for one in every if fields is None or one in fields}
    parameters: dict[str, Any] = {"type": "object", "properties": chosen}
    if required := [one for one in schema.get("required", ()) if one in chosen]:
        parameters["required"] = required
    return {
        "type": "function",
        "function": {"name": name, "description": _said(made), "parameters": parameters},
    }


def _said(made: type[BaseModel]) -> str:
    first = (made.__doc__ or "").strip().splitlines()[0]
    return first if len(first) <= _FIRST else first.partition(":")[0][:_FIRST].rstrip(".") + "."


def _property(told: dict[str, Any]) -> dict[str, Any]:
    kept = {name: told[name] for name in _KEPT if name in told}
    return {**kept, "description": told["description"]} if "description" in told else kept
