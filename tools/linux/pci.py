"""PCI devices and their links, hop by hop from a GPU to its root port."""

from __future__ import annotations

import re
from typing import Literal

from tools.probe import Facts

PortKind = Literal["endpoint", "root_port", "upstream", "downstream", "bridge"]

# PCIe transfer rates; sysfs and lspci of pciutils 3.5.6 to 3.9 print the number alike
GEN_OF_GT_S = {"2.5": 1, "5": 2, "8": 3, "16": 4, "32": 5, "64": 6, "128": 7}
_RATE = re.compile(r"(\d{1,3}(?:\.\d)?) ?GT/s")
_BDF = re.compile(
    r"(?:PCI:)?(?:(?P<domain>[0-9a-fA-F]{4,8}):)?(?P<bus>[0-9a-fA-F]{2}):(?P<slot>[0-9a-fA-F]{2})"
    r"(?:\.(?P<function>[0-7]))?"
)


def full_bdf(text: str) -> str | None:
    """Return an address as "0000:9c:00.0", whichever parts the kernel, lspci or NVML left out."""
    found = _BDF.fullmatch(text.strip())
    if found is None:
        return None
    domain = (found["domain"] or "0")[-8:].lstrip("0").lower().rjust(4, "0")
    return f"{domain}:{found['bus']}:{found['slot']}.{found['function'] or 0}".lower()


def link_gen(text: str) -> int | None:
    """Return the generation of "16GT/s", "16.0 GT/s PCIe"; None where the speed is unknown."""
    found = _RATE.search(text[:64])
    return GEN_OF_GT_S.get(found[1].removesuffix(".0")) if found else None


class PciDevice(Facts):
    """One device or port. Generations 1 to 6 stand for 2.5, 5, 8, 16, 32, 64 GT/s."""

    bdf: str  # "0000:e3:00.0", lower case
    name: str | None = None
    port: PortKind | None = None
    gpu: bool = False
    parent: str | None = None  # bdf of the port above
    cap_gen: int | None = None
    cap_width: int | None = None
    link_gen: int | None = None
    link_width: int | None = None
    target_gen: int | None = None
    speed_frozen: bool | None = None  # LnkCtl2 SpeedDis+: the link may not change speed by itself
    downgraded: bool | None = None  # lspci's own mark
    acs_redirects: bool | None = None  # ACSCtl ReqRedir+ or CmpltRedir+
    numa_node: int | None = None
    aer_correctable: int | None = None  # since boot
    aer_fatal: int | None = None
    aer_kinds: dict[str, int] = {}  # counts above 0 by name, since boot: "BadTLP" -> 3
    error_bits: tuple[str, ...] = ()  # set in DevSta, at some time since boot: "CorrErr"
    aspm: str | None = None  # LnkCtl: "Disabled", "L1", "L0s L1"
    access_denied: bool = False  # lspci had no right to read the capabilities

    def merged(self, other: PciDevice) -> PciDevice:
        """Complete: what one look could see stays, even if the other was shown without it."""
        both = super().merged(other)
        vague = other.port in (None, "bridge")
        return both.model_copy(
            update={
                "gpu": self.gpu or other.gpu,
                "port": self.port if vague and self.port else other.port,
                "access_denied": self.access_denied and other.access_denied,
            }
        )


class PciLinks(Facts):
    """The devices that matter for GPUs: each GPU and every port above it, as far as seen.

    `siblings` names what else hangs on the same split of lanes (an NVMe beside a GPU).
    """

    devices: tuple[PciDevice, ...] = ()
    siblings: dict[str, str] = {}  # bdf -> name of other endpoints seen in the tree

    def merged(self, other: PciLinks) -> PciLinks:
        """Unite two looks at one bus: each device is completed by what the other says of it."""
        known = {device.bdf: device for device in self.devices}
        for device in other.devices:
            known[device.bdf] = known[device.bdf].merged(device) if device.bdf in known else device
        return PciLinks(devices=tuple(known.values()), siblings=self.siblings | other.siblings)

    def gpus(self) -> tuple[PciDevice, ...]:
        """Return the GPUs."""
        return tuple(device for device in self.devices if device.gpu)

    def path(self, bdf: str) -> tuple[PciDevice, ...]:
        """Return the device and every port above it, up to the root port as far as seen."""
        known = {device.bdf: device for device in self.devices}
        chain: list[PciDevice] = []
        at: str | None = bdf
        while at in known and known[at] not in chain:
            chain.append(known[at])
            at = known[at].parent
        return tuple(chain)
