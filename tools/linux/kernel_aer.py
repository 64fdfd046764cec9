"""PCIe error reports (AER) of a kernel log: several lines of it make one report."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tools.linux.kernel import AerLine
from tools.linux.kernel_lines import KernelLine
from tools.linux.pci import full_bdf

MOST = 1000
_ADDRESS = r"((?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])"
# kernel 4.15 to 6.18, drivers/pci/pcie/aer.c: "error received: X", "error message received from X"
_RECEIVED = re.compile(
    r"AER: (?:Multiple )?(Correct\w+|Uncorrect\w+ \((?:Non-)?Fatal\))(?: error)?(?: message)?"
    rf" received(?:: | from ){_ADDRESS}"
)
_BUS_ERROR = re.compile(
    rf"{_ADDRESS}: (?:AER: )?PCIe Bus Error: severity=(Correct\w+|Uncorrect\w+ \((?:Non-)?Fatal\))"
)
_BIT = re.compile(
    r"^(?:\S+ )?(?:" + _ADDRESS + r": )?(?:AER: )? {0,12}\[ {0,2}(\d{1,2})\] ([A-Za-z]\w{2,31})\b"
)
# firmware-first reports: drivers/firmware/efi/cper.c, aer.c cper_print_aer
_FIRMWARE = re.compile(
    r"aer_(cor|uncor)_status: 0x([0-9a-fA-F]{8})|AER: aer_status: 0x([0-9a-fA-F]{8})"
)
_DEVICE = re.compile(rf"device_id: {_ADDRESS}|^\S+ {_ADDRESS}: ")
# include/uapi/linux/pci_regs.h PCI_ERR_UNC_*, PCI_ERR_COR_*, by the names that aer.c prints
_UNCORRECTED = {4: "DLP", 5: "SDES", 12: "TLP", 13: "FCP", 14: "CmpltTO", 15: "CmpltAbrt", 16: "UnxCmplt",
                17: "RxOF", 18: "MalfTLP", 19: "ECRC", 20: "UnsupReq", 21: "ACSViol"}  # fmt: skip
_CORRECTED = {
    0: "RxErr",
    6: "BadTLP",
    7: "BadDLLP",
    8: "Rollover",
    12: "Timeout",
    13: "NonFatalErr",
}


@dataclass
class _Report:
    bdf: str | None
    severity: str
    text: str
    at: str | None
    errors: list[str] = field(default_factory=list)
    times: int = 1
    detailed: bool = False  # its "PCIe Bus Error" line was seen

    @property
    def same(self) -> tuple[object, ...]:
        return self.bdf, self.severity, tuple(self.errors)

    def add(self, *names: str) -> None:
        self.errors += [name for name in names if name not in self.errors]


class AerReports:
    """Gathers the reports while lines go by."""

    def __init__(self) -> None:
        self._done: list[_Report] = []
        self._open: _Report | None = None

    def take(self, line: KernelLine) -> None:
        """Look at one line; most are of no interest and cost four searches for a word."""
        said = line.message
        if "received" in said and (found := _RECEIVED.search(said)):
            self._close(
                _Report(full_bdf(found[2]), _severity(found[1]), said.strip()[:200], line.at)
            )
        elif "PCIe Bus Error" in said and (found := _BUS_ERROR.search(said)):
            self._bus_error(full_bdf(found[1]), _severity(found[2]), line)
        elif "aer_" in said and (found := _FIRMWARE.search(said)):
            self._firmware(found, line)
        elif self._open and "[" in said and (found := _BIT.match(said)):
            self._open.add(found[3])

    def reports(self) -> tuple[AerLine, ...]:
        """Return all, equal ones counted."""
        self._close(None)
        return tuple(
            AerLine(
                bdf=one.bdf,
                severity=one.severity,
                errors=tuple(one.errors),
                text=one.text,
                at=one.at,
                times=one.times,
            )
            for one in self._done
        )

    def _close(self, following: _Report | None) -> None:
        one, self._open = self._open, following
        if one is None:
            return
        for earlier in self._done[-8:]:
            if earlier.same == one.same:
                earlier.times += one.times
                earlier.at = one.at
                return
        if len(self._done) < MOST:
            self._done.append(one)

    def _bus_error(self, bdf: str | None, severity: str, line: KernelLine) -> None:
        if self._open is None or self._open.detailed or self._open.severity != severity:
            self._close(_Report(bdf, severity, line.message.strip()[:200], line.at))
        if self._open is not None:
            self._open.bdf, self._open.detailed = bdf, True

    def _firmware(self, found: re.Match[str], line: KernelLine) -> None:
        """Decode the status word; a report that came by the port itself is completed by it."""
        status = int(found[2] or found[3], 16)
        corrected = found[1] == "cor" or (found[1] is None and self._is_open("corrected"))
        names = _CORRECTED if corrected else _UNCORRECTED
        errors = [name for bit, name in names.items() if status >> bit & 1]
        if not errors:
            return
        if self._open is None or (self._open.severity == "corrected") != corrected:
            device = _DEVICE.search(line.message)
            bdf = full_bdf(device[1] or device[2]) if device else None
            severity = "corrected" if corrected else ""
            self._close(_Report(bdf, severity, line.message.strip()[:200], line.at))
        if self._open is not None:
            self._open.add(*errors)

    def _is_open(self, severity: str) -> bool:
        return self._open is not None and self._open.severity == severity


def _severity(text: str) -> str:
    if text.startswith("Correct"):
        return "corrected"
    return "non-fatal" if "Non-Fatal" in text else "fatal"
