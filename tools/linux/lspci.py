"""The text of `lspci`, with or without -vv: devices, their links, the bridges above them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from tools.linux.pci import PciDevice, PortKind, full_bdf, link_gen

# pciutils 3.5 to 3.14, ls-caps.c and ls-kernel.c; -n, -nn, -D and -PP change the head only
_HEAD = re.compile(
    r"(?P<above>(?:[0-9a-fA-F:]{2,16}\.[0-7]/){0,16})(?P<bdf>(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])"
    r" (?P<kind>[^:\n]{2,80}): (?P<name>\S.*)"
)
_CODE = re.compile(r" ?\[[0-9a-fA-F]{4}(?::[0-9a-fA-F]{4})?\]| ?\((?:rev|prog-if)[^)]{0,60}\)")
_ASKED = re.compile(r"[$#] [^\n]{0,200}?\blspci\b[^\n]{0,200}?-[a-zA-Z]*s ?(\S+)")
_BUSES = re.compile(r"Bus: primary=[0-9a-fA-F]{2}, secondary=([0-9a-fA-F]{2}), subordinate=")
_PORT = re.compile(r"Express (?:\(v\d\) )?([A-Za-z][A-Za-z /-]{2,60}?)(?: \(Slot[+-]\))?(?:,|$)")
_SPEED_WIDTH = re.compile(r"Speed ([^,(]{1,24})(?:\(\w+\))?, Width x(\d{1,2})")
_ACS = re.compile(r"(?:ReqRedir|CmpltRedir)([+-])")
_SET_BIT = re.compile(r"\b(CorrErr|NonFatalErr|FatalErr)\+")
_NUMA = re.compile(r"NUMA node: (\d+)")
_PORTS: dict[str, PortKind] = {
    "Root Port": "root_port",
    "Upstream Port": "upstream",
    "Downstream Port": "downstream",
    "Endpoint": "endpoint",
    "Legacy Endpoint": "endpoint",
    "Root Complex Integrated Endpoint": "endpoint",
}
_BRIDGE_NAMES: tuple[tuple[str, PortKind], ...] = (
    ("Switch Upstream", "upstream"),
    ("Upstream Port", "upstream"),
    ("Switch Downstream", "downstream"),
    ("Downstream Port", "downstream"),
    ("Root Port", "root_port"),
    ("GPP Bridge", "root_port"),  # AMD's name for the ports of its root complex
)
_DISPLAY = (
    "VGA compatible controller",
    "3D controller",
    "Display controller",
    "0300",
    "0302",
    "0380",
)


@dataclass
class _Block:
    """One device while its lines are read."""

    bdf: str
    said: dict[str, Any] = field(default_factory=dict)
    secondary: str | None = None

    def device(self, parent: str | None) -> PciDevice:
        told = dict(self.said)
        told.setdefault("parent", parent)
        return PciDevice(bdf=self.bdf, **told)


def read_lspci(text: str) -> tuple[PciDevice, ...]:
    """Return the devices of a text; of a fragment without addresses "unknown-1" and so on.

    A fragment that names no device at all is taken for a GPU's: it was shown to be judged.
    """
    blocks = _blocks(text)
    above = {(block.bdf[:4], block.secondary): block.bdf for block in blocks if block.secondary}
    found = [block.device(above.get((block.bdf[:4], block.bdf[5:7]))) for block in blocks]
    if len(found) == 1 and found[0].name is None and found[0].bdf[5:7] != "00":
        return (found[0].model_copy(update={"gpu": True}),)
    return tuple(found)


class _Reader:
    """Cuts the text into devices: at heads, at commands that ask for one, at a second LnkCap."""

    def __init__(self) -> None:
        self.blocks: list[_Block] = []
        self.asked: str | None = None
        self.unknown = 0
        self.inside = False

    def take(self, line: str) -> None:
        if (head := _HEAD.match(line)) is not None and (bdf := full_bdf(head["bdf"])) is not None:
            self.blocks.append(_headed(bdf, head))
            self.inside, self.asked = True, None
        elif (question := _ASKED.match(line)) is not None:
            self.inside, self.asked = False, full_bdf(question[1])
        elif self.inside or "Lnk" in line:
            if not self.inside or ("LnkCap:" in line and self._told_already()):
                self.unknown += self.asked is None
                self.blocks.append(_Block(self.asked or f"unknown-{self.unknown}"))
                self.inside, self.asked = True, None
            _told(self.blocks[-1], line)

    def _told_already(self) -> bool:
        said = self.blocks[-1].said
        return "cap_gen" in said and "name" not in said


def _blocks(text: str) -> list[_Block]:
    reader = _Reader()
    for line in text.split("\n"):
        reader.take(line[:1000])
    return reader.blocks


def _headed(bdf: str, head: re.Match[str]) -> _Block:
    kind, name = _CODE.sub("", head["kind"]).strip(), _CODE.sub("", head["name"]).strip()
    nvidia = "NVIDIA" in name or "[10de:" in head["name"] or head["name"].startswith("10de:")
    said: dict[str, Any] = {"name": name[:120], "gpu": nvidia and kind in _DISPLAY}
    if kind in ("PCI bridge", "0604"):
        said["port"] = next((port for part, port in _BRIDGE_NAMES if part in name), "bridge")
    elif kind not in ("Host bridge", "ISA bridge", "0600", "0601"):
        said["port"] = "endpoint"
    if head["above"]:
        said["parent"] = full_bdf(head["above"].rstrip("/").rpartition("/")[2])
    return _Block(bdf, said)


def _told(block: _Block, line: str) -> None:
    """Take what one line below a device's head says."""
    name, _, rest = line.strip().partition(":")
    if name in _FIELDS:
        _FIELDS[name](block, rest.strip())
    elif name == "Bus" and (buses := _BUSES.search(line)):
        block.secondary = buses[1].lower()
    elif name == "NUMA node" and (numa := _NUMA.search(line)):
        block.said["numa_node"] = int(numa[1])


def _capability(block: _Block, rest: str) -> None:
    if rest.startswith("<access denied"):
        block.said["access_denied"] = True
    elif (port := _PORT.search(rest)) is not None:
        bridge = "bridge" if "Bridge" in port[1] else None
        block.said["port"] = _PORTS.get(port[1], bridge or block.said.get("port"))


def _link_cap(block: _Block, rest: str) -> None:
    if (found := _SPEED_WIDTH.search(rest)) is not None:
        block.said |= {"cap_gen": link_gen(found[1]), "cap_width": int(found[2])}


def _link_status(block: _Block, rest: str) -> None:
    if (found := _SPEED_WIDTH.search(rest)) is not None:
        block.said |= {"link_gen": link_gen(found[1]), "link_width": int(found[2])}
        if "(downgraded)" in rest:
            block.said["downgraded"] = True
        elif (
            rest.count("(ok)") == 2
        ):  # 3.6 and 3.7; later versions leave it out, earlier mark nothing
            block.said["downgraded"] = False


def _link_control(block: _Block, rest: str) -> None:
    if (found := re.match(r"ASPM ([\w ]{2,20}?)(?: Enabled)?[;,]", rest)) is not None:
        block.said["aspm"] = found[1]


def _link_control_2(block: _Block, rest: str) -> None:
    if rest.startswith("Target Link Speed:"):
        block.said["target_gen"] = link_gen(rest)
    if (frozen := re.search(r"SpeedDis([+-])", rest)) is not None:
        block.said["speed_frozen"] = frozen[1] == "+"


def _acs_control(block: _Block, rest: str) -> None:
    block.said["acs_redirects"] = "+" in _ACS.findall(rest)


def _device_status(block: _Block, rest: str) -> None:
    block.said["error_bits"] = tuple(_SET_BIT.findall(rest))


_FIELDS = {
    "Capabilities": _capability,
    "LnkCap": _link_cap,
    "LnkSta": _link_status,
    "LnkCtl": _link_control,
    "LnkCtl2": _link_control_2,
    "ACSCtl": _acs_control,
    "DevSta": _device_status,
}
