"""A server's command line in YAML and JSON: compose files, Kubernetes pods, `docker inspect`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tools.engine import Launch
from tools.engine.manifests import containers
from tools.sglang.command_line import launch, started, words


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
    for node, _ in containers(text):
        found = started(_argv(node))
        if found and (found.argv or found.image):
            kind = "kubernetes" if "args" in node or "resources" in node else "docker"
            seen = launch(found)
            return seen.model_copy(update={"container": kind, "cpus_allowed": _cpus(node)})
    return None


def _cpus(node: Mapping[str, Any]) -> str | None:
    host = node.get("HostConfig")
    cpus = host.get("CpusetCpus") if isinstance(host, Mapping) else node.get("cpuset")
    return str(cpus) if cpus else None


def server_container(text: str) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """Return the container of a manifest that runs a server, and what is around it.

    A manifest of one container that hides its command in an image counts: nobody pastes another's.
    """
    found = list(containers(text))
    for node, around in found:
        one = started(_argv(node))
        if one and (one.argv or one.image):
            return node, around
    inspected = [(node, around) for node, around in found if "HostConfig" in node]
    return inspected[0] if len(inspected) == 1 else None
