"""The kernel's own complaints about GPUs, PCIe, the IOMMU and memory."""

from __future__ import annotations

from tools.probe import Facts


class XidLine(Facts):
    """One error that the NVIDIA driver reported. https://docs.nvidia.com/deploy/xid-errors"""

    bdf: str  # "0000:9c:00.0"
    code: int
    text: str
    at: str | None = None


class AerLine(Facts):
    """One PCIe error report. `errors` are names such as RxErr, BadTLP, SDES."""

    bdf: str | None = None
    severity: str = ""  # "corrected", "non-fatal", "fatal"
    errors: tuple[str, ...] = ()
    text: str = ""
    at: str | None = None  # of the last one
    times: int = 1  # equal reports in a row count as one


class BandwidthNotice(Facts):
    """The notice printed when a device is found, often while it still idles at Gen1: no proof."""

    bdf: str
    limited_gen: int | None = None
    limited_width: int | None = None
    port: str | None = None
    capable_gen: int | None = None
    capable_width: int | None = None


class KernelLog(Facts):
    """What the kernel said since boot, as far as the log reaches back."""

    xids: tuple[XidLine, ...] = ()
    fallen_off: tuple[str, ...] = ()  # bdfs of "has fallen off the bus"
    gsp_faults: tuple[
        str, ...
    ] = ()  # what the driver says of a GPU firmware that halts or is silent
    aer: tuple[AerLine, ...] = ()
    io_page_faults: tuple[str, ...] = ()  # bdfs
    vfio_resets: tuple[str, ...] = ()  # bdfs of devices that were reset for a guest
    locked_up: int = 0  # times the driver's own watchdog found the GPU locked
    iommu_on: bool | None = None  # the kernel says that an IOMMU translates
    notices: tuple[BandwidthNotice, ...] = ()
    clocksource: str | None = None  # the last that the kernel switched to: "tsc", "hpet"
    no_space: tuple[str, ...] = ()  # bdfs of GPUs whose memory regions (BARs) were given no address
    ports_down: tuple[
        str, ...
    ] = ()  # RDMA ports that went down, one entry each time: "mlx5_2/1 81204.1"
    split_locks: int = 0  # traps of misaligned atomic access, those that were not printed too
    split_lockers: tuple[str, ...] = ()  # the threads: "CPU 3/KVM"
    oom_kills: int = 0
    oom_victims: tuple[str, ...] = ()  # names of the processes that were killed
    mce: int = 0
    thermal_trips: int = 0
    boots: int = 0  # boots seen in the log
    ends_mid_line: int = 0  # boots whose log ends without a shutdown
    nvrm_version: str | None = None
    version_mismatch: bool = False
    memory_encryption: str | None = None  # "AMD SEV SEV-ES SEV-SNP", "Intel TDX"
    pcie_quirk_lines: tuple[str, ...] = ()  # link down, recovery failed, card not present
    lines: int = 0
