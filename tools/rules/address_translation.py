"""What stands between two GPUs that write to each other: ACS redirects and the IOMMU."""

from __future__ import annotations

from tools.engine import Environment, Launch, ServerInfo, ServerLog
from tools.engine.parallel import tp_size
from tools.errors import Undecided
from tools.knowledge.links import pcie_gb_s
from tools.linux.kernel import KernelLog
from tools.linux.machine import Machine
from tools.linux.pci import PciDevice, PciLinks
from tools.nvidia.gpus import Gpus
from tools.nvidia.nccl import AllReduceTest, NcclLog
from tools.nvidia.topology import Topology
from tools.rule import Cleared, Effect, Finding, Outcome, rule

SPIN_UTIL_PCT = 95  # a collective that waits spins at full utilisation
SPIN_POWER = 0.4  # and draws little: work at that utilisation draws 60 % of the limit and more
SLOW_COPY = (
    0.5  # of the raw rate of the link; a direct peer copy reaches 80 % and more (links.json)
)
FAST_COPY = 0.7

_ACS_TEST = "all_reduce_perf with and without NCCL_P2P_DISABLE=1, then with ACSCtl cleared"
_PASSTHROUGH = ("iommu=pt", "iommu=off", "intel_iommu=off", "amd_iommu=off", "iommu.passthrough=1")


def _spins(gpus: Gpus | None) -> bool:
    """Say whether two GPUs or more are fully busy and draw almost nothing: a hung collective."""
    told = [one for one in gpus.samples if one.util_pct is not None] if gpus else []
    idle_hot = [
        one
        for one in told
        if (one.util_pct or 0) >= SPIN_UTIL_PCT
        and one.power_w
        and one.power_limit_w
        and one.power_w < SPIN_POWER * one.power_limit_w
    ]
    return len(idle_hot) >= 2 and len(idle_hot) == len(told)


def _hangs(gpus: Gpus | None, log: ServerLog | None, test: AllReduceTest | None) -> str:
    """Return how a hung collective shows, empty if it does not."""
    if test and test.finished is False and not test.error:
        return "an all-reduce test does not finish"
    waits = log.said("watchdog", "collective", "nccl_error") if log else ()
    if waits and not (log and (log.steady() or log.started)):
        return f"the server waits at start: {waits[-1].text[:120].split('. ')[0]}"
    if _spins(gpus) and not (log and log.steady()):
        return "the GPUs spin at 100 % and draw under 40 % of their limit"
    return ""


@rule(cause="acs_redirect")
def peer_writes_redirected(
    links: PciLinks,
    gpus: Gpus | None,
    topology: Topology | None,
    log: ServerLog | None,
    launch: Launch | None,
    info: ServerInfo | None,
    test: AllReduceTest | None,
) -> Outcome:
    """PCIe access control sends every write between GPUs through the root complex."""
    told = [device for device in links.devices if device.acs_redirects is not None]
    if not told:
        raise Undecided(
            "the ports' access control (ACSCtl) was not seen",
            settle="sudo lspci -vvv | grep ACSCtl, on the host",
            suspicion=0.03,
        )
    ports = _above(links, [device for device in told if device.acs_redirects])
    if not ports:
        return Cleared("no port above a GPU redirects peer writes")
    if tp_size(launch, log, info) == 1 or len(links.gpus()) == 1:
        return Cleared("one GPU serves alone, so no peer writes exist")
    if topology and all(word.startswith("NV") for word in topology.words() or {"-"}):
        return Cleared("the GPUs speak over NVLink, which passes no port")
    hangs = _hangs(gpus, log, test)
    where = ", ".join(port.bdf for port in ports)
    copies = _peer_copies(topology, links)
    if copies and copies[0] >= FAST_COPY * copies[1] and not hangs:
        return Cleared(
            f"peer copies reach {copies[0]:.1f} of {copies[1]:.1f} GB/s, whatever ACS redirects"
        )
    slow = bool(copies) and copies[0] <= SLOW_COPY * copies[1]
    if not (hangs or slow):
        raise Undecided(
            f"ACS redirects peer writes on {where}; whether P2P is slow by it was not measured",
            settle=_ACS_TEST,
            suspicion=0.3,
        )
    how = hangs or f"peer copies reach only {copies[0]:.1f} GB/s of a link of {copies[1]:.1f} GB/s"
    return Finding(
        statement=f"ACS redirects peer writes on {where}, and {how}.",
        confidence=0.75 if hangs else 0.7,
        slows=frozenset(("start", "crash", "decode", "prefill")),
        category="config",
        remedy=(
            *(
                ("Set NCCL_P2P_DISABLE=1 for the moment; it costs speed and starts.",)
                if hangs
                else ()
            ),
            "Switch ACS off: in the BIOS, or as root on those ports with setpci (ECAP_ACS+6.w=0000,"
            " gone at the next boot). On bare metal only: guests rely on it.",
        ),
        verify=f"{_ACS_TEST}: peer copies reach 80 % of the link and more",
        quotes=tuple(f"{port.bdf} ACSCtl: ReqRedir+ or CmpltRedir+" for port in ports),
    )


def _peer_copies(topology: Topology | None, links: PciLinks) -> tuple[float, ...]:
    """Return what the best measured peer copy reached and the raw rate of its link, in GB/s."""
    rates = [
        rate.gb_s / (2 if rate.both_ways else 1)
        for rate in (topology.rates if topology else ())
        if rate.peer
    ]
    raws = [
        raw
        for gpu in links.gpus()
        if gpu.link_gen and gpu.link_width and (raw := pcie_gb_s(gpu.link_gen, gpu.link_width))
    ]
    return (max(rates), min(raws)) if rates and raws else ()


def _above(links: PciLinks, devices: list[PciDevice]) -> list[PciDevice]:
    """Return the devices that lie above a GPU, or all if the tree is not known."""
    above = {device.bdf for gpu in links.gpus() for device in links.path(gpu.bdf)}
    ours = [device for device in devices if device.bdf in above]
    return ours if len(above) > len(links.gpus()) else devices


def _translating(kernel: KernelLog | None, machine: Machine | None) -> bool | None:
    """Say whether the IOMMU translates what devices write; None if nothing tells."""
    cmdline = machine.kernel_cmdline if machine else None
    words = (cmdline or "").split()
    if any(word in _PASSTHROUGH for word in words):
        return False
    if kernel and (kernel.iommu_on or kernel.io_page_faults):
        return True
    if any(word in ("intel_iommu=on", "amd_iommu=on", "iommu=force") for word in words):
        return True
    return False if kernel and kernel.iommu_on is False else None


@rule(cause="iommu_translating")
def iommu_by_the_command_line(
    machine: Machine,
    nccl: NcclLog,
    kernel: KernelLog | None,
    links: PciLinks | None,
    environment: Environment | None,
    launch: Launch | None,
    info: ServerInfo | None,
    log: ServerLog | None,
    test: AllReduceTest | None,
) -> Outcome:
    """The kernel was started with a translating IOMMU, and NCCL writes from GPU to GPU."""
    if kernel is not None or machine.kernel_cmdline is None:
        return None  # iommu_between_gpus has more to go by
    seen = (machine, None, links, nccl, environment, launch, info, log, test)
    return _between_gpus(KernelLog(), *seen)


@rule(cause="iommu_translating")
def iommu_between_gpus(
    kernel: KernelLog,
    machine: Machine | None,
    gpus: Gpus | None,
    links: PciLinks | None,
    nccl: NcclLog | None,
    environment: Environment | None,
    launch: Launch | None,
    info: ServerInfo | None,
    log: ServerLog | None,
    test: AllReduceTest | None,
) -> Outcome:
    """The IOMMU translates what GPUs write to each other, and transfers fail or hang."""
    seen = (machine, gpus, links, nccl, environment, launch, info, log, test)
    return _between_gpus(kernel, *seen)


def _between_gpus(
    kernel: KernelLog,
    machine: Machine | None,
    gpus: Gpus | None,
    links: PciLinks | None,
    nccl: NcclLog | None,
    environment: Environment | None,
    launch: Launch | None,
    info: ServerInfo | None,
    log: ServerLog | None,
    test: AllReduceTest | None,
) -> Outcome:
    translating = _translating(kernel, machine)
    if translating is False:
        return Cleared("the IOMMU is off or passes through")
    if kernel.io_page_faults:
        return _faults(kernel, gpus, links)
    if tp_size(launch, log, info) == 1 or (links and len(links.gpus()) == 1):
        return Cleared("one GPU serves alone, so no peer writes exist")
    if translating is None:
        raise Undecided(
            "nothing tells whether the IOMMU translates",
            settle="cat /proc/cmdline; cat /sys/kernel/iommu_groups/*/type",
            suspicion=0.03,
        )
    values = (environment.values if environment else {}) | (nccl.env if nccl else {})
    disabled = values.get("NCCL_P2P_DISABLE") not in (None, "", "0")
    direct = bool(nccl and any(path.startswith("P2P") for path in nccl.paths))
    hangs = _hangs(gpus, log, test)
    if not (hangs or direct or disabled):
        raise Undecided(
            "the IOMMU translates; whether peer access suffers was not seen",
            settle="boot with iommu=pt, or all_reduce_perf with and without NCCL_P2P_DISABLE=1",
            suspicion=0.15,
        )
    why = hangs or ("P2P is switched off by hand" if disabled else "NCCL writes peer to peer")
    return Finding(
        statement=f"The IOMMU translates what the GPUs write to each other, and {why}.",
        confidence=0.8 if hangs else 0.65,
        slows=frozenset(("start", "crash", "decode", "prefill")),
        effect=Effect(
            (-5.0, -2.0, 0.0), (-20.0, -10.0, -5.0), "published measurements with ACS on and off"
        ),
        quotes=((machine.kernel_cmdline,) if machine and machine.kernel_cmdline else ()),
    )


def _faults(kernel: KernelLog, gpus: Gpus | None, links: PciLinks | None) -> Outcome:
    cards = {one.bdf for one in gpus.samples if one.bdf} if gpus else set()
    cards |= {device.bdf for device in links.gpus()} if links else set()
    cards |= {line.bdf for line in kernel.xids}
    hit = [bdf for bdf in dict.fromkeys(kernel.io_page_faults) if not cards or bdf in cards]
    if not hit:
        return Cleared("the IOMMU's page faults are of other devices")
    return Finding(
        statement=f"The IOMMU refuses writes of GPUs under load: page faults of {', '.join(hit)}.",
        confidence=0.9 if cards else 0.7,
        slows=frozenset(("crash", "tail", "prefill")),
        quotes=tuple(f"IO_PAGE_FAULT {bdf}" for bdf in hit),
    )


RULES = (peer_writes_redirected, iommu_between_gpus)
