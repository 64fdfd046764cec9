"""Lines of a kernel log that tell of split locks, RDMA ports that go down, and regions without an address."""

from __future__ import annotations

import re

from tools.linux.pci import full_bdf

# kernel 5.7 to 6.17, arch/x86/kernel/cpu/bus_lock.c; 5.19 and later let the thread sleep for it
_TRAP = re.compile(
    r"split lock detection: #(?:AC|DB): (.{1,40})/\d+ took a (?:split|bus)_lock trap"
)
_MORE = re.compile(r"split_lock_warn: (\d{1,9}) callbacks suppressed")
# kernel drivers/infiniband/hw/mlx5/main.c and drivers/infiniband/core/device.c
_PORT = re.compile(
    r"infiniband (\w{1,40}): Port: (\d{1,3}) Link DOWN|(mlx\w{1,40})(?:: |: port )(\d{1,3}).{0,20} link down"
)
# open-gpu-kernel-modules kernel-open/nvidia/nv-pci.c, 418 to 595
_REGION = re.compile(r"NVRM: BAR\d is 0M @ 0x0 \(PCI:([0-9a-f:.]{7,16})\)")


def split_lock(message: str) -> tuple[str, int] | None:
    """Return who took a split lock and how many times, of one line; the name is empty for a summary."""
    if (found := _TRAP.search(message)) is not None:
        return found[1], 1
    return ("", int(more[1])) if (more := _MORE.search(message)) is not None else None


def port_down(message: str) -> str | None:
    """Name the RDMA port that a line says went down: "mlx5_2/1"."""
    found = _PORT.search(message)
    return f"{found[1] or found[3]}/{found[2] or found[4]}" if found else None


def without_address(message: str) -> str | None:
    """Return the address of a GPU whose region has none."""
    found = _REGION.search(message)
    return full_bdf(found[1]) if found else None
