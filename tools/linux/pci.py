"""PCI devices and their links, hop by hop from a GPU to its root port."""

from __future__ import annotations

from typing import Literal

from tools.probe import Facts

PortKind = Literal["endpoint", "root_port", "upstream", "downstream", "bridge"]


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
    access_denied: bool = False  # lspci had no right to read the capabilities


class PciLinks(Facts):
    """The devices that matter for GPUs: each GPU and every port above it, as far as seen.

    `siblings` names what else hangs on the same split of lanes (an NVMe beside a GPU).
    """

    devices: tuple[PciDevice, ...] = ()
    siblings: dict[str, str] = {}  # bdf -> name of other endpoints seen in the tree

    def merged(self, other: PciLinks) -> PciLinks:
        """Unite two looks at one bus: each device is completed by what the other look says of it."""
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
