"""PCIe links that repeat packets, report errors, or go down at rest."""

from __future__ import annotations

from tools.errors import Undecided
from tools.linux.kernel import KernelLog
from tools.linux.machine import Machine
from tools.linux.pci import PciLinks
from tools.nvidia.gpus import Gpus
from tools.nvidia.topology import Topology
from tools.rule import Cleared, Finding, Outcome, rule

# One-off replays at boot and at changes of the P-state are normal; each costs microseconds.
MANY_REPLAYS = 1000  # since driver load: worth a look under load, no more
MANY_REPORTS = 5  # corrected errors of a GPU's path in the kernel log; a healthy path has none

_SETTLE = (
    "Read nvidia-smi -q (Replays Since Reset) and aer_dev_correctable of the GPU and its root port"
    " before and after ten minutes of load; the difference decides"
)


@rule(cause="pcie_errors_replays")
def link_repeats_packets(gpus: Gpus) -> Outcome:
    """A PCIe link loses packets and repeats them under load."""
    told = {
        gpu: [one.replays for one in group if one.replays is not None]
        for gpu, group in gpus.by_gpu().items()
    }
    told = {gpu: counts for gpu, counts in told.items() if counts}
    rising = {gpu: counts[-1] - counts[0] for gpu, counts in told.items() if counts[-1] > counts[0]}
    if rising:
        words = ", ".join(f"GPU {gpu} +{count}" for gpu, count in rising.items())
        return Finding(
            statement=f"PCIe packets were repeated between two looks: {words}.",
            confidence=0.85,
            slows=frozenset(("tail", "crash")),
            quotes=tuple(f"GPU {gpu}: replays {told[gpu][0]} -> {told[gpu][-1]}" for gpu in rising),
        )
    if not told:
        raise Undecided("no look tells the replay counters", settle=_SETTLE, suspicion=0.03)
    most = max(told, key=lambda gpu: told[gpu][-1])
    if not told[most][-1]:
        return Cleared("the replay counters are 0")
    if any(counts[-1] < counts[0] for counts in told.values()):
        raise Undecided(
            "the replay counters fell between two looks: reversed, or the driver was reloaded",
            settle=_SETTLE,
            suspicion=0.3,
        )
    if all(len(counts) > 1 for counts in told.values()):
        return Cleared("the replay counters stand still")
    raise Undecided(
        f"GPU {most} counts {told[most][-1]} replays since the driver was loaded, which may be old",
        settle=_SETTLE,
        suspicion=0.3 if told[most][-1] >= MANY_REPLAYS else 0.1,
    )


@rule(cause="pcie_errors_replays")
def port_reports_errors(kernel: KernelLog, links: PciLinks | None, gpus: Gpus | None) -> Outcome:
    """The kernel reports PCIe errors on a GPU or a port above it."""
    ours, whole = _above_gpus(links, gpus)
    told = [line for line in kernel.aer if "SDES" not in line.errors]  # link_lost_at_rest's
    sure = [line for line in told if line.bdf in ours]
    reports = sure if whole else told  # without the tree a port may be above a GPU or not
    if not reports:
        return (
            Cleared("the kernel log holds no PCIe error of a GPU's path") if kernel.lines else None
        )
    where = ", ".join(sorted({line.bdf or "?" for line in reports}))
    corrected = all(line.severity == "corrected" for line in reports)
    replays = max((one.replays or 0 for one in gpus.samples), default=0) if gpus else 0
    repeats = len(reports) >= MANY_REPORTS or replays >= MANY_REPLAYS
    if corrected and not (repeats and (sure or replays >= MANY_REPLAYS)):
        raise Undecided(
            f"{len(reports)} corrected PCIe errors on {where}, some time since boot"
            f"{'' if sure else '; whether a GPU is below it is not told'}",
            settle=_SETTLE if sure else f"lspci -tv: is a GPU below that port? {_SETTLE}",
            suspicion=0.3 if repeats else 0.2,
        )
    return Finding(
        statement=f"The PCIe path of a GPU reports errors: {len(reports)} on {where}.",
        confidence=0.75 if sure else 0.55,
        slows=frozenset(("tail", "crash", "prefill")),
        quotes=(
            *(line.text for line in reports[:3]),
            *((f"replays {replays}",) if replays else ()),
        ),
    )


def _above_gpus(links: PciLinks | None, gpus: Gpus | None) -> tuple[frozenset[str], bool]:
    """Return the GPUs with every port above them as far as seen, and whether ports were seen."""
    cards = {device.bdf for device in links.gpus()} if links else set()
    cards |= {sample.bdf for sample in gpus.samples if sample.bdf} if gpus else set()
    paths = [links.path(bdf) for bdf in cards] if links else []
    ports = {device.bdf for path in paths for device in path}
    return frozenset(cards | ports), bool(ports - cards)


@rule(cause="pcie_errors_replays")
def port_counts_errors(links: PciLinks) -> Outcome:
    """A port counts corrected PCIe errors since boot."""
    told = [device for device in links.devices if device.aer_correctable is not None]
    if not told:
        raise Undecided("the ports' error counters were not read", settle=_SETTLE, suspicion=0.02)
    worst = max(told, key=lambda device: device.aer_correctable or 0)
    if not worst.aer_correctable and not any(device.aer_fatal for device in told):
        return Cleared("the error counters of the ports are 0")
    raise Undecided(
        f"{worst.bdf} counts {worst.aer_correctable} corrected errors since boot",
        settle=_SETTLE,
        suspicion=0.3 if (worst.aer_correctable or 0) >= MANY_REPLAYS else 0.1,
    )


@rule(cause="pcie_aspm_link_down")
def link_lost_at_rest(kernel: KernelLog, machine: Machine | None) -> Outcome:
    """A link is lost when power management wakes it: surprise down, then the GPU is gone."""
    gone = [line for line in kernel.xids if line.code == 79]
    down = [line for line in kernel.aer if "SDES" in line.errors]
    if not gone and not kernel.fallen_off:
        return None
    cmdline = machine.kernel_cmdline if machine else None
    off = cmdline is not None and "pcie_aspm=off" in cmdline and "pcie_port_pm=off" in cmdline
    if off:
        return Cleared("PCIe power management is off on the kernel command line")
    if not down:
        raise Undecided(
            "a GPU fell off the bus, and no port report tells how",
            settle="journalctl -k -b -1: is there an AER line with SDES on the port just before?",
            suspicion=0.15,
        )
    sleeps = bool(
        machine and machine.runtime_d3 and machine.runtime_d3.lower().startswith("enabled")
    )
    settled = cmdline is not None
    return Finding(
        statement=(
            f"Port {down[-1].bdf or 'above the GPU'} lost its link (surprise down) just before the GPU"
            " fell off the bus, with PCIe power management on."
        ),
        confidence=0.85 if settled and sleeps else 0.75 if settled else 0.6,
        slows=frozenset(("crash",)),
        quotes=(*(line.text for line in down[-2:]), *(line.text for line in gone[-1:])),
    )


@rule(cause="pcie_switch_arbitration")
def switch_starves_concurrent_writes(
    topology: Topology, kernel: KernelLog | None, machine: Machine | None
) -> Outcome:
    """A PCIe switch collapses when several GPUs behind one uplink write to different root ports."""
    words = topology.words()
    behind = words & {"PIX", "PXB"}
    across = words & {"PHB", "NODE", "SYS"}
    if len(topology.gpus) < 4 or not (behind and across):
        return Cleared("the GPUs are not grouped behind PCIe switches")
    if any(word.startswith("NV") for word in words):
        return Cleared("the GPUs speak over NVLink")
    cmdline = (machine.kernel_cmdline if machine else None) or ""
    plain = "iommu=off" in cmdline or "iommu=pt" in cmdline  # other reasons for slow P2P are gone
    clean = kernel is not None and not kernel.xids and not kernel.aer
    raise Undecided(
        "pairs alone cannot show it; only simultaneous transfers tell a switch, a shared uplink and"
        " NCCL apart",
        settle=(
            "A matrix of two concurrent peer copies: from one uplink to two different remote root"
            " ports, writes against reads"
        ),
        suspicion=0.4 if plain and clean else 0.3 if plain else 0.12,
    )


RULES = (
    link_repeats_packets,
    port_reports_errors,
    port_counts_errors,
    link_lost_at_rest,
    switch_starves_concurrent_writes,
)
