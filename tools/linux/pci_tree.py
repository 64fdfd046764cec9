"""The tree of `lspci -t` and -tv: who hangs below whom."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.linux.pci import PciDevice, PortKind

# pciutils ls-tree.c: "-[0000:00]-+-01.0-[02-08]----00.0-[03-08]--+-01.0  NAME"
_EDGE = re.compile(r"[ |+\\-]*")
_BUS = re.compile(r"\[(?:([0-9a-fA-F]{4,8}):)?([0-9a-fA-F]{2})(?:-[0-9a-fA-F]{2})?\]")
_SLOT = re.compile(r"([0-9a-fA-F]{2}\.[0-7])(?=[ -]|$)(?:  (\S.*))?")
_FIRST = re.compile(r"^(?:-|-\+-| [+\\]-)\[[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}\]-", re.MULTILINE)
# below a root port come a switch's upstream port and its downstream ports, and so on
_BELOW: dict[PortKind | None, PortKind] = {
    None: "root_port", "root_port": "upstream", "upstream": "downstream", "downstream": "upstream",
}  # fmt: skip
_CONTROLLERS = ("Audio", "USB", "UCSI")  # other functions of the card itself


def is_tree(text: str) -> bool:
    """Say whether a text holds such a tree."""
    return _FIRST.search(text) is not None


def read_tree(text: str) -> tuple[tuple[PciDevice, ...], dict[str, str]]:
    """Return the devices with their parents, and the names of endpoints beside the GPUs.

    Where the tree tells names, only GPUs, what is above them and what is beside them stay: below
    the same switch, or on a root port of the same slot number, as when lanes are split.
    """
    devices = {device.bdf: device for line in _placed(text) for device in line}
    gpus = [device for device in devices.values() if device.gpu]
    if not gpus:
        return tuple(device for bdf, device in devices.items() if _counts(bdf, device)), {}
    above = {bdf for gpu in gpus for bdf in _path(gpu, devices)}
    splits = {_path(gpu, devices)[-1][:-2] for gpu in gpus}
    kept, siblings = {}, {}
    for bdf, device in devices.items():
        path = _path(device, devices)
        beside = path[-1][:-2] in splits and (len(path) > 1 or device.port == "root_port")
        card = any(bdf[:-2] == gpu.bdf[:-2] for gpu in gpus)
        if bdf in above or (beside and not card):
            kept[bdf] = device
        if beside and not card and device.name and device.port == "endpoint":
            siblings[bdf] = device.name
    return tuple(kept.values()), siblings


def _counts(bdf: str, device: PciDevice) -> bool:
    return bdf.endswith(".0") or device.port != "endpoint"


def _path(device: PciDevice, devices: dict[str, PciDevice]) -> list[str]:
    path = [device.bdf]
    while (up := devices[path[-1]].parent) in devices and up is not None and up not in path:
        path.append(up)
    return path


def _placed(text: str) -> Iterator[list[PciDevice]]:
    """Read line by line: a device stands below the last bus to its left, or in its column."""
    at: dict[int, tuple[str, str, str | None]] = {}  # column -> domain, bus, bridge above
    ports: dict[str, PortKind] = {}
    domain = "0000"
    for line in text.split("\n"):
        if "." not in line or len(line) > 2000 or not line.lstrip(" ").startswith(tuple("-|+\\")):
            continue
        found: list[PciDevice] = []
        place = None
        here = _edge(line, 0)
        while True:
            if (bus := _BUS.match(line, here)) is not None:
                domain = (bus[1] or domain)[-4:].lower()
                place = (domain, bus[2].lower(), found[-1].bdf if found else None)
                if found:
                    ports[found[-1].bdf] = _BELOW[ports.get(found[-1].parent or "")]
                    port = ports[found[-1].bdf]
                    found[-1] = found[-1].model_copy(update={"port": port})
                here = _edge(line, bus.end())
            elif (slot := _SLOT.match(line, here)) is not None:
                place = place if place is not None else at.get(here)
                if place is None:
                    break
                at[here] = place
                found.append(_device(place, slot))
                place = None
                here = _edge(line, slot.end())
            else:
                break
        yield found


def _edge(line: str, at: int) -> int:
    found = _EDGE.match(line, at)
    return found.end() if found else at


def _device(place: tuple[str, str, str | None], slot: re.Match[str]) -> PciDevice:
    name = slot[2].strip()[:120] if slot[2] else None
    gpu = bool(name and "NVIDIA" in name and not any(part in name for part in _CONTROLLERS))
    bdf = f"{place[0]}:{place[1]}:{slot[1].lower()}"
    return PciDevice(bdf=bdf, name=name, port="endpoint", parent=place[2], gpu=gpu)
