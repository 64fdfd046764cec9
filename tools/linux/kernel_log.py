"""What a kernel log says of GPUs, PCIe, the IOMMU, memory and boots."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tools.linux.kernel import AerLine, BandwidthNotice, KernelLog, XidLine
from tools.linux.kernel_aer import AerReports
from tools.linux.kernel_boots import Boots
from tools.linux.kernel_lines import KernelLine, split_lines
from tools.linux.kernel_traps import port_down, split_lock, without_address
from tools.linux.pci import full_bdf, link_gen

MOST = 2000  # of each kind; a storm of one Xid tells no more than this
_ADDRESS = r"(?:PCI:)?((?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?)"
_XID = re.compile(
    rf"\bXid \({_ADDRESS}[^)]{{0,60}}\)[^:]{{0,60}}: (\d{{1,4}})(?:, (.*)|$)"
)  # 418 to 610
_FALLEN = re.compile(rf"GPU (?:at )?{_ADDRESS}: GPU has fallen off the bus")
# kernel 4.17 to 6.18, drivers/pci/pci.c __pcie_print_link_status; "PCIe " came with 5.7
_NOTICE = re.compile(
    rf"{_ADDRESS}: [\d.]+ Gb/s available PCIe bandwidth, limited by ([\w. ]+/s)(?: PCIe)? x(\d+) link at {_ADDRESS}"
    r"(?: \(capable of [\d.]+ Gb/s with ([\w. ]+/s)(?: PCIe)? x(\d+) link\))?"
)
_AMD_FAULT = re.compile(r"AMD-Vi: Event logged \[IO_PAGE_FAULT (?:device=([0-9a-f:.]+) )?")
_DMAR_FAULT = re.compile(r"DMAR: \[(?:DMA|INTR)[^\]]*\] Request device \[([0-9a-fA-F:.]+)\]")
_OF_DEVICE = re.compile(rf"^\S+ {_ADDRESS}: ")
_DOMAIN = re.compile(r"iommu: Default domain type: (\w+)")
_IOMMU_ON = ("DMAR: IOMMU enabled", "Virtualization Technology for Directed I/O", "AMD-Vi: Virtual APIC enabled",
             "AMD-Vi: Lazy IO/TLB flushing enabled", "iommu: DMA domain TLB invalidation policy")  # fmt: skip
_KILLED = re.compile(r"(?:Out of memory|out of memory): Kill(?:ed)? process \d+ \(([^)]{1,64})\)")
_MCE = ("Machine check events logged", "Machine Check Exception", "Machine Check: ")
_THERMAL = ("temperature above threshold", "critical temperature reached", "Thermal shutdown")
_NVRM = re.compile(r"NVRM: loading NVIDIA UNIX .{0,80}?(\d{3}\.\d+(?:\.\d+)?)")
_ENCRYPTION = re.compile(
    r"Memory Encryption Features active: (.+)|(Intel TDX)|tdx: (Guest) detected"
)
# open-gpu-kernel-modules 535 to 595, kernel_gsp.c: what precedes or stands for Xid 119, 120 and 154
_GSP = re.compile(
    r"GSP RM heartbeat timed out|LibOS heartbeat timed out|PMU has halted|GSP task (?:watchdog timeout|exception)"
    r"|GSP-CrashCat Report"
)
_CLOCK = re.compile(r"\bclocksource: Switched to clocksource (\w[\w-]{1,40})")
_VFIO = re.compile(rf"vfio-pci {_ADDRESS}: (?:resetting|reset done)")
_QUIRKS = ("Slot(", "Link Down", "Card not present", "device recovery failed", "Unable to change power state",
           "broken device, retraining", "BAR 1: no space", "BAR 1: failed to assign")  # fmt: skip


def read_kernel_log(text: str) -> KernelLog:
    """Read a log whole, or what a grep left of it."""
    reader = _Reader()
    for line in split_lines(text):
        reader.take(line)
    return reader.log(text)


class _Reader:
    """Goes through the lines once; a line is looked at closely only where a word of it is known."""

    def __init__(self) -> None:
        self.said: dict[str, Any] = {
            "oom_kills": 0,
            "mce": 0,
            "thermal_trips": 0,
            "locked_up": 0,
            "split_locks": 0,
        }
        self.lists: dict[str, list[Any]] = {}
        self.aer = AerReports()
        self.lines = 0

    def take(self, line: KernelLine) -> None:
        self.lines += (
            not (line.at is None and line.message.startswith(("$ ", "# ", "#\n", "-- ")))
            and line.message != "#"
        )
        for word, reading in _READINGS:
            if word in line.message:
                reading(self, line)
        self.aer.take(line)

    def add(self, name: str, thing: Any) -> None:
        kept = self.lists.setdefault(name, [])
        if len(kept) < MOST and (name in ("xids", "oom_victims") or thing not in kept):
            kept.append(thing)

    def log(self, text: str) -> KernelLog:
        boots = Boots(text)
        lists: dict[str, Any] = {name: tuple(kept) for name, kept in self.lists.items()}
        reports: tuple[AerLine, ...] = self.aer.reports()
        ends = {"boots": boots.count, "ends_mid_line": boots.cut, "lines": self.lines}
        return KernelLog(aer=reports, **ends, **self.said, **lists)


def _xid(reader: _Reader, line: KernelLine) -> None:
    found = _XID.search(line.message)
    bdf = full_bdf(found[1]) if found else None
    if found and bdf:
        told = (found[3] or "").strip()[:300]
        reader.add("xids", XidLine(bdf=bdf, code=int(found[2]), text=told, at=line.at))
        if "has fallen off the bus" in told:
            reader.add("fallen_off", bdf)


def _fallen(reader: _Reader, line: KernelLine) -> None:
    if (found := _FALLEN.search(line.message)) and (bdf := full_bdf(found[1])):
        reader.add("fallen_off", bdf)


def _notice(reader: _Reader, line: KernelLine) -> None:
    found = _NOTICE.search(line.message)
    bdf = full_bdf(found[1]) if found else None
    if found and bdf:
        capable = link_gen(found[5]) if found[5] else None
        reader.add(
            "notices",
            BandwidthNotice(
                bdf=bdf,
                limited_gen=link_gen(found[2]),
                limited_width=int(found[3]),
                port=full_bdf(found[4]),
                capable_gen=capable,
                capable_width=int(found[6]) if found[6] else None,
            ),
        )


def _page_fault(reader: _Reader, line: KernelLine) -> None:
    found = _AMD_FAULT.search(line.message) or _DMAR_FAULT.search(line.message)
    if found is None:
        return
    device = _OF_DEVICE.match(line.message)
    told = found[1] or (device[1] if device else "")
    if (bdf := full_bdf(told)) is not None:
        reader.add("io_page_faults", bdf)
        reader.said["iommu_on"] = True


def _gsp(reader: _Reader, line: KernelLine) -> None:
    if found := _GSP.search(line.message):
        reader.add("gsp_faults", found[0])


def _vfio(reader: _Reader, line: KernelLine) -> None:
    if (found := _VFIO.search(line.message)) and (bdf := full_bdf(found[1])):
        reader.add("vfio_resets", bdf)


def _locked(reader: _Reader, line: KernelLine) -> None:
    if "GPU is probably locked" in line.message:
        reader.said["locked_up"] += 1


def _iommu(reader: _Reader, line: KernelLine) -> None:
    if (domain := _DOMAIN.search(line.message)) is not None:
        reader.said["iommu_on"] = domain[1] != "Passthrough"
    elif any(word in line.message for word in _IOMMU_ON):
        reader.said.setdefault("iommu_on", True)


def _killed(reader: _Reader, line: KernelLine) -> None:
    if (found := _KILLED.search(line.message)) is not None:
        reader.said["oom_kills"] += 1
        reader.add("oom_victims", found[1])


def _machine_check(reader: _Reader, line: KernelLine) -> None:
    reader.said["mce"] += any(word in line.message for word in _MCE)


def _hot(reader: _Reader, line: KernelLine) -> None:
    reader.said["thermal_trips"] += any(word in line.message for word in _THERMAL)


def _nvrm(reader: _Reader, line: KernelLine) -> None:
    if (found := _NVRM.search(line.message)) is not None:
        reader.said["nvrm_version"] = found[1]


def _mismatch(reader: _Reader, _: KernelLine) -> None:
    reader.said["version_mismatch"] = True


def _encryption(reader: _Reader, line: KernelLine) -> None:
    if (found := _ENCRYPTION.search(line.message)) is not None:
        reader.said["memory_encryption"] = (found[1] or "Intel TDX").strip()[:80]


def _clock(reader: _Reader, line: KernelLine) -> None:
    if (found := _CLOCK.search(line.message)) is not None:
        reader.said["clocksource"] = found[1]


def _split_lock(reader: _Reader, line: KernelLine) -> None:
    if (found := split_lock(line.message)) is not None:
        reader.said["split_locks"] += found[1]
        if found[0]:
            reader.add("split_lockers", found[0])


def _port_down(reader: _Reader, line: KernelLine) -> None:
    if (port := port_down(line.message)) is not None:
        reader.add("ports_down", f"{port} {line.at or ''}".strip())


def _region(reader: _Reader, line: KernelLine) -> None:
    if (bdf := without_address(line.message)) is not None:
        reader.add("no_space", bdf)


def _quirk(reader: _Reader, line: KernelLine) -> None:
    if line.source in ("kernel", "") and any(word in line.message for word in _QUIRKS):
        reader.add("pcie_quirk_lines", line.message.strip()[:200])


_READINGS: tuple[tuple[str, Callable[[_Reader, KernelLine], None]], ...] = (
    ("Xid", _xid),
    ("fallen off the bus", _fallen),
    ("GSP", _gsp),
    ("heartbeat timed out", _gsp),
    ("RC watchdog", _locked),
    ("vfio-pci", _vfio),
    ("available PCIe bandwidth", _notice),
    ("IO_PAGE_FAULT", _page_fault),
    ("Request device", _page_fault),
    ("IOMMU enabled", _iommu),
    ("Directed I/O", _iommu),
    ("AMD-Vi", _iommu),
    ("iommu: D", _iommu),
    ("ut of memory: Kill", _killed),
    ("achine ", _machine_check),
    ("hermal shutdown", _hot),
    (" temperature ", _hot),
    ("NVRM: loading", _nvrm),
    ("NVRM: API mismatch", _mismatch),
    ("Memory Encryption Features", _encryption),
    ("TDX", _encryption),
    ("tdx: Guest", _encryption),
    ("Switched to clocksource", _clock),
    ("split", _split_lock),
    ("ink DOWN", _port_down),
    (" link down", _port_down),
    ("NVRM: BAR", _region),
    ("pcie", _quirk),
    ("retraining", _quirk),
    ("BAR 1", _quirk),
    ("power state", _quirk),
)
