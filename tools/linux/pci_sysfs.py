"""PCI devices as sysfs tells them: our script's answer, and files of a device that were pasted."""

from __future__ import annotations

import re
from typing import Any

from tools.linux.lspci import read_lspci
from tools.linux.pci import PciDevice, PciLinks, PortKind, full_bdf, link_gen
from tools.linux.transcript import sections

_DEVICE = re.compile(
    r"/sys/.*?([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])/(?:link/|power/)?(\w+)"
)
_COUNT = re.compile(r"^([A-Za-z_]+) (\d+)$", re.MULTILINE)
_NONE_WIDTHS = (0, 63, 255)  # what a device that is gone answers
_BELOW: dict[PortKind | None, PortKind] = {
    None: "root_port", "root_port": "upstream", "upstream": "downstream", "downstream": "upstream",
}  # fmt: skip


def read_script(said: dict[str, Any]) -> PciLinks:
    """Return what our script found; lspci's part wins, since it reads the device itself."""
    rows = [row for row in said.get("devices", ()) if isinstance(row, dict) and row.get("bdf")]
    others = set(said.get("others", ()))
    ports = _ports({str(row["bdf"]): row.get("parent") for row in rows}, rows)
    devices = tuple(_device(row, ports) for row in rows)
    named = read_lspci(str(said.get("lspci", "")))
    known = {device.bdf for device in devices}
    links = PciLinks(devices=devices).merged(
        PciLinks(devices=tuple(device for device in named if device.bdf in known))
    )
    names = {device.bdf: device.name or device.bdf for device in links.devices}
    return links.model_copy(update={"siblings": {bdf: names[bdf] for bdf in others & known}})


def _is_bridge(row: dict[str, Any]) -> bool:
    return str(row.get("class", "")).startswith("0x0604")


def _ports(parents: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, PortKind]:
    """Name each port from its place: below a root port come a switch's upstream and downstream."""
    bridges = {str(row["bdf"]) for row in rows if _is_bridge(row)}
    ports: dict[str, PortKind] = {bdf: "endpoint" for bdf in parents if bdf not in bridges}
    for bdf in bridges:
        path = [bdf]
        while (up := parents.get(path[-1])) in bridges and up not in path:
            path.append(up)
        kind: PortKind | None = None
        for _ in path:
            kind = _BELOW[kind]
        ports[bdf] = kind or "bridge"
    return ports


def _device(row: dict[str, Any], ports: dict[str, PortKind]) -> PciDevice:
    bdf = str(row["bdf"])
    gpu = row.get("vendor") == "0x10de" and str(row.get("class", "")).startswith("0x03")
    parent = row.get("parent")
    fields: dict[str, Any] = {"gpu": gpu, "port": ports.get(bdf), "parent": parent and str(parent)}
    for name, text in row.items():
        fields |= _fields(name, str(text))
    return PciDevice(bdf=bdf, **fields)


def _fields(name: str, text: str) -> dict[str, Any]:
    """Return what one file of a device says."""
    if name in _SPEEDS:
        gen = link_gen(text)
        return {_SPEEDS[name]: gen} if gen else {}
    if name in _WIDTHS:
        width = int(text) if text.isdecimal() else 0
        return {_WIDTHS[name]: width} if width and width not in _NONE_WIDTHS else {}
    if name == "numa_node":
        return {"numa_node": int(text)} if text.isdecimal() else {}  # -1: the firmware does not say
    return _errors(name, text) if name in _TOTALS else {}


def _errors(name: str, text: str) -> dict[str, Any]:
    counts = {kind: int(count) for kind, count in _COUNT.findall(text)}
    totals = [count for kind, count in counts.items() if kind.startswith("TOTAL_")]
    kinds = {kind: n for kind, n in counts.items() if n and not kind.startswith("TOTAL_")}
    total = totals[0] if totals else sum(kinds.values())
    field = _TOTALS[name]
    return ({field: total} if field and counts else {}) | ({"aer_kinds": kinds} if kinds else {})


_SPEEDS = {"current_link_speed": "link_gen", "max_link_speed": "cap_gen"}
_WIDTHS = {"current_link_width": "link_width", "max_link_width": "cap_width"}
_TOTALS = {
    "aer_dev_correctable": "aer_correctable",
    "aer_dev_fatal": "aer_fatal",
    "aer_dev_nonfatal": None,
}


def read_files(text: str) -> PciLinks:
    """Return what pasted files of devices say: `cat FILE`, `grep . FILES`, `head FILES`."""
    links = PciLinks()
    for part in sections(text):
        found = [found for path in part.paths if (found := _DEVICE.match(path))]
        bodies = [part.body.strip()] if len(found) == 1 else [line.strip() for line in part.lines]
        for match, body in zip(found, bodies, strict=False):
            bdf, fields = full_bdf(match[1]), _fields(match[2], body)
            if bdf and fields:
                links = links.merged(PciLinks(devices=(PciDevice(bdf=bdf, **fields),)))
    return links
