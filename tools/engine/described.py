"""Containers as `kubectl describe pod` tells them, in the shape that a pod's manifest has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

Pair = tuple[Mapping[str, Any], Mapping[str, Any]]
# kubectl 1.20 to 1.34; it is not translated
_SIGN = re.compile(r"^Containers:$", re.MULTILINE)
_SECTION = re.compile(r"^([A-Z][\w ]{1,30}):(?: .*)?$")
_NAMED = re.compile(r"^  ([\w.-]{1,253}):$")
_FIELD = re.compile(r"^    ([A-Z][\w ]{1,30}): *(.*)$")
_ENTRY = re.compile(r"^      (\S.*)$")
_VALUE = re.compile(r"^([\w./-]{1,253}): {1,60}(.*)$")
_MOUNT = re.compile(r"^(/\S*) from ([\w.-]{1,253}) \(")
_MOST = 20_000  # lines


def described(text: str) -> Iterator[Pair]:
    """Yield (container, spec of its pod) for each container that is described."""
    if not _SIGN.search(text):
        return
    blocks = _blocks(text)
    volumes = [_volume(name, fields) for name, fields in blocks.get("Volumes", {}).items()]
    found = [_container(fields) for fields in blocks.get("Containers", {}).values()]
    spec = {"containers": found, "volumes": volumes}
    for one in found:
        yield one, spec


def _blocks(text: str) -> dict[str, dict[str, dict[str, list[str]]]]:
    """Return section -> name -> field -> [what stands behind it, the lines below it]."""
    blocks: dict[str, dict[str, dict[str, list[str]]]] = {}
    section, name, field = "", "", ""
    for line in text.split("\n")[:_MOST]:
        if (found := _SECTION.match(line)) is not None:
            section, name, field = found[1], "", ""
        elif (found := _NAMED.match(line)) is not None:
            name, field = found[1], ""
            blocks.setdefault(section, {}).setdefault(name, {})
        elif name and (found := _FIELD.match(line)) is not None:
            field = found[1]
            blocks[section][name][field] = [found[2].strip()]
        elif name and field and (found := _ENTRY.match(line)) is not None:
            blocks[section][name][field].append(found[1].rstrip())
    return blocks


def _container(fields: Mapping[str, list[str]]) -> dict[str, Any]:
    def below(name: str) -> list[str]:
        return fields.get(name, [""])[1:]

    mounts = [found for entry in below("Mounts") if (found := _MOUNT.match(entry))]
    last = dict(_pairs(below("Last State")))
    return {
        "image": fields.get("Image", [""])[0],
        "command": below("Command"),
        "args": below("Args"),
        "env": [{"name": name, "value": value} for name, value in _pairs(below("Environment"))],
        "resources": {"limits": dict(_pairs(below("Limits")))},
        "volumeMounts": [{"mountPath": found[1], "name": found[2]} for found in mounts],
        "statuses": [{"lastState": {"terminated": {"reason": last.get("Reason", "")}}}],
    }


def _pairs(entries: list[str]) -> Iterator[tuple[str, str]]:
    for entry in entries:
        if (found := _VALUE.match(entry)) is not None and not found[2].startswith("<"):
            yield found[1], found[2].strip()


def _volume(name: str, fields: Mapping[str, list[str]]) -> dict[str, Any]:
    told = {field: said[0] for field, said in fields.items()}
    if not told.get("Type", "").startswith("EmptyDir"):
        return {"name": name}
    limit = told.get("SizeLimit", "")
    return {"name": name, "emptyDir": {} if limit in ("", "<unset>") else {"sizeLimit": limit}}
