"""The kernel's own complaints."""

from __future__ import annotations

import re

from pydantic import Field

from tools.errors import Unreadable
from tools.host import Command, script
from tools.linux.kernel import KernelLog
from tools.linux.kernel_lines import looks_like_kernel
from tools.linux.kernel_log import read_kernel_log
from tools.linux.terminal import shown
from tools.probe import Probe, told

_WORDS = ("dmesg", "journalctl", "-- Boot ", "-- Reboot ", "NVRM: ", "Xid (")  # a cheap first look
_ASKED = re.compile(
    r"^[^\n]{0,120}[$#] (?:sudo )?(?:\w{1,32}=\S{1,64} )?(?:dmesg\b"
    r"|journalctl\b[^\n]{0,200}(?: -\w?k\b| --dmesg| -b\b| --boot| --list-boots))"
    r"|^-- (?:Boot [0-9a-f]{32}|Reboot) --|NVRM: |\bXid \((?:PCI:)?[0-9a-fA-F:]+",
    re.MULTILINE,
)
_ENGINE = re.compile(r"server_args=|(?:Decode|Prefill) batch|Engine \d{3}: Avg prompt")


class ReadKernelLog(Probe[KernelLog]):
    """Read the kernel log: Xid, PCIe errors (AER), IOMMU faults, out-of-memory kills.

    Like: journalctl -k; dmesg -T
    """

    lines: int = Field(5000, ge=100, le=50_000, description="how far back to look")

    def command(self) -> Command:
        """Ask the journal, which needs no root in the group adm; else dmesg, which often does."""
        return script("kernel_log", str(self.lines), limit_s=20, max_bytes=8 << 20)

    def recognises(self, text: str, /) -> bool:
        """Kernel time stamps, or a command that asks for the kernel's log, or the driver's name."""
        if looks_like_kernel(text):
            return True
        looks = any(word in text for word in _WORDS)
        return looks and _ASKED.search(text) is not None and _ENGINE.search(text) is None

    def parse(self, stdout: str, /) -> KernelLog:
        """Count and keep; a quiet kernel is an answer, not an absence."""
        if stdout.startswith(('{"failed"', '{"absent"')) and len(stdout) < 4096:
            told(stdout)  # raises what the script could not do
        if not stdout.strip():
            raise Unreadable(
                "nothing at all came: not even an empty log says which command was asked"
            )
        return read_kernel_log(shown(stdout))
