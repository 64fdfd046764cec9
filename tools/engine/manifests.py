"""Manifests: the YAML or JSON of compose files, Kubernetes pods and `docker inspect`, and their containers."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from tools.engine.described import described

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SIGN = re.compile(
    r"^[ \t]*(?:- )?[\"']?(?:image|command|args|entrypoint|env|environment|Config|Args)[\"']?\s*:",
    re.MULTILINE,
)
_KEYS = frozenset({"image", "command", "args", "entrypoint", "Config"})
MANIFEST_CHARS = 1 << 19  # of one paste
NODES = 20_000  # looked at, with every alias counted as often as it is used


def documents(text: str) -> list[Any]:
    """Return the YAML or JSON documents of a text; none where it is neither, or too long.

    Aliases can name one node a billion times, so what they unfold to is counted before it is built.
    """
    text = textwrap.dedent(text.replace("\t", "  ").strip("\n\r"))
    if len(text) > MANIFEST_CHARS or not _SIGN.search(text):
        return []
    try:
        if text.lstrip()[:1] in ("{", "["):
            return [json.loads(text)]
        return list(_yaml(text))
    except (ValueError, yaml.YAMLError, RecursionError):
        return []


def _yaml(text: str) -> Iterator[Any]:
    loader = _LOADER(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            if node is not None and _unfolded(node, {}) > NODES:
                raise ValueError("its aliases unfold to more than is read")
            if node is not None and (built := loader.construct_document(node)) is not None:
                yield built
    finally:
        loader.dispose()


def _unfolded(node: yaml.Node, sizes: dict[int, int]) -> int:
    """Count the nodes below one, an alias as often as it is used; a node within itself has no end."""
    known = sizes.get(id(node))
    if known is not None:
        return known
    sizes[id(node)] = NODES + 1  # until it is counted: whoever meets it meanwhile is below it
    below: list[yaml.Node] = []
    if isinstance(node, yaml.MappingNode):
        below = [part for pair in node.value for part in pair]
    elif isinstance(node, yaml.SequenceNode):
        below = node.value
    sizes[id(node)] = size = min(NODES + 1, 1 + sum(_unfolded(one, sizes) for one in below))
    return size


def containers(text: str) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield every mapping that describes a container, with the one around it (a pod's spec, services).

    A container names an image, a command, or arguments. What `kubectl describe pod` tells of one comes
    in the same shape; `statuses` are those of a pod that runs.
    """
    yield from described(text)
    waiting: list[tuple[Any, Mapping[str, Any]]] = [(one, {}) for one in documents(text)]
    for _ in range(NODES):
        if not waiting:
            return
        node, around = waiting.pop(0)
        if isinstance(node, Mapping):
            if _KEYS & set(node):
                yield _with_status(node, around), around
            beside = _spec(node, around)
            waiting += [(value, beside) for value in node.values()]
        elif isinstance(node, list):
            waiting += [(value, around) for value in node]


def _spec(node: Mapping[str, Any], around: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what is around the nodes below: a pod's spec, with the statuses that stand beside it."""
    status = around.get("status")
    if "containers" in node and isinstance(status, Mapping):
        return {**node, "containerStatuses": status.get("containerStatuses")}
    return node


def _with_status(node: Mapping[str, Any], around: Mapping[str, Any]) -> Mapping[str, Any]:
    told = around.get("containerStatuses")
    same = [
        one
        for one in (told if isinstance(told, list) else ())
        if isinstance(one, Mapping) and one.get("name") == node.get("name")
    ]
    return {**node, "statuses": same} if same else node


def environment_of(node: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables that a container is given: a mapping, NAME=value, or name and value."""
    config = node.get("Config")
    given = config.get("Env") if isinstance(config, Mapping) else None
    given = given or node.get("environment") or node.get("env") or {}
    if isinstance(given, Mapping):
        return {str(name): str(value) for name, value in given.items()}
    found: dict[str, str] = {}
    for entry in given if isinstance(given, list) else ():
        if isinstance(entry, Mapping) and "name" in entry:
            found[str(entry["name"])] = str(entry.get("value", ""))
        elif isinstance(entry, str) and "=" in entry:
            name, _, value = entry.partition("=")
            found[name] = value
    return found
