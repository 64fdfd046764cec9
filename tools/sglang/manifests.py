"""A server's command line in YAML and JSON: compose files, Kubernetes pods, `docker inspect`."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from tools.engine import Launch
from tools.sglang.command_line import TEXT_CHARS, launch, started, words

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SIGN = re.compile(
    r"^[ \t]*(?:- )?[\"']?(?:image|command|args|entrypoint|env|environment|Config|Args)[\"']?\s*:",
    re.MULTILINE,
)
_NODES = 20_000  # looked at; aliases in YAML can name one node a billion times


def documents(text: str) -> list[Any]:
    """Return the YAML or JSON documents of a text; none where it is neither, or too long."""
    text = textwrap.dedent(text.replace("\t", "  ").strip("\n\r"))
    if len(text) > TEXT_CHARS or not _SIGN.search(text):
        return []
    try:
        if text.lstrip()[:1] in ("{", "["):
            return [json.loads(text)]
        return [part for part in yaml.load_all(text, Loader=_LOADER) if part is not None]
    except (ValueError, yaml.YAMLError, RecursionError):
        return []


def containers(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield every mapping that describes a container: it names an image, a command, or arguments."""
    waiting: list[Any] = documents(text)
    for _ in range(_NODES):
        if not waiting:
            return
        node = waiting.pop(0)
        if isinstance(node, Mapping):
            if {"image", "command", "args", "entrypoint", "Config"} & set(node):
                yield node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def _words(value: object) -> list[str]:
    if isinstance(value, str):
        return words(value.replace("\\\n", " ").replace("\n", " "))
    if isinstance(value, Sequence):
        return [str(part) for part in value]
    return []


def _argv(node: Mapping[str, Any]) -> list[str]:
    """Return the words that start a container; the image goes first, as in `docker run`."""
    config = node.get("Config")
    if isinstance(config, Mapping):  # docker inspect: Path and Args are what really runs
        ran = [str(node.get("Path", "")), *_words(node.get("Args"))]
        return ["docker", str(config.get("Image", "")), *ran]
    image = str(node.get("image", ""))
    ran = [part for key in ("entrypoint", "command", "args") for part in _words(node.get(key))]
    return ["docker", image, *ran]


def read_manifest(text: str) -> Launch | None:
    """Return the first server that a manifest starts; None if there is none."""
    for node in containers(text):
        argv = _argv(node)
        found = started(argv)
        if found and (found.argv or found.image):
            kind = "kubernetes" if "args" in node or "resources" in node else "docker"
            seen = launch(found)
            return seen.model_copy(update={"container": kind, "cpus_allowed": _cpus(node)})
    return None


def _cpus(node: Mapping[str, Any]) -> str | None:
    host = node.get("HostConfig")
    cpus = host.get("CpusetCpus") if isinstance(host, Mapping) else node.get("cpuset")
    return str(cpus) if cpus else None


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
