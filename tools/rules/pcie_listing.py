"""Generation of PCIe links as lspci or sysfs list it, which do not say at what moment."""

from __future__ import annotations

from collections.abc import Sequence

from tools.errors import Undecided
from tools.knowledge.links import pcie_gb_s
from tools.linux.kernel import KernelLog
from tools.linux.link_caps import possible_gens, shown_low
from tools.linux.pci import PciDevice, PciLinks
from tools.nvidia.gpus import Gpus
from tools.nvidia.link_reading import link_readings
from tools.nvidia.topology import Topology
from tools.rule import Cleared, Finding, Outcome, rule

_SETTLE = (
    "Under load: nvidia-smi --query-gpu=index,pstate,utilization.gpu,pcie.link.gen.gpucurrent,"
    "pcie.link.gen.gpumax,pcie.link.gen.hostmax,pcie.link.width.current --format=csv -lms 200"
)
_AT_REST = "an idle GPU lowers its link by itself, so this is no proof of a fault yet"


@rule(cause="pcie_gen_low_under_load")
def link_slower_in_the_bus_listing(
    links: PciLinks, gpus: Gpus | None, topology: Topology | None
) -> Outcome:
    """lspci or sysfs show a GPU's link below its capability."""
    low = shown_low(links)
    if low and _outrun(low, topology):
        return Cleared(f"measured copies outrun it: {_outrun(low, topology)}")
    if gpus is not None and link_readings(gpus, possible_gens(links)):
        return None  # the samples tell the moment, so link_slower_than_the_slot judges them
    if low:
        raise Undecided(
            f"{low[0].bdf or 'the card'} shows Gen{low[0].link_gen} of Gen{low[0].cap_gen}; nothing"
            f" says whether it was at work; {_AT_REST}",
            settle=f"{_SETTLE}; with LnkSta and aer_dev_correctable of the card and its root port",
            suspicion=0.35,
        )
    if any(device.link_gen and device.cap_gen for device in links.devices):
        return Cleared("every link in the bus listing runs at its full generation")
    raise Undecided("the bus listing tells no link's speed", settle=_SETTLE, suspicion=0.05)


@rule(cause="pcie_gen_idle_only")
def copies_outrun_the_listing(links: PciLinks, topology: Topology) -> Outcome:
    """A link is listed as slow and carries more than such a link could: it was read at rest."""
    said = _outrun(shown_low(links), topology)
    if not said:
        return None
    return Finding(
        statement=f"The links are up at work, and were listed at rest: {said}.",
        confidence=0.85,
        benign=True,
        quotes=(said,),
    )


def _outrun(low: Sequence[PciDevice], topology: Topology | None) -> str:
    """Quote a measured copy that no link of the listed speed could carry; empty where there is none.

    Every pair must have been faster, for it is not told which pair is which card.
    """
    rates = [
        rate.gb_s / (2 if rate.both_ways else 1) for rate in (topology.rates if topology else ())
    ]
    raws = [
        raw
        for card in low
        if card.link_gen and card.link_width and (raw := pcie_gb_s(card.link_gen, card.link_width))
    ]
    if not rates or not raws or min(rates) <= max(raws):
        return ""
    first = low[0]
    return (
        f"copies reach {min(rates):.1f} GB/s, and Gen{first.link_gen} x{first.link_width} carries"
        f" {max(raws):.1f} GB/s"
    )


@rule(cause="pcie_reset_downtrain")
def reset_before_the_link_was_low(links: PciLinks, kernel: KernelLog) -> Outcome:
    """VFIO has reset a card whose link is now lower than card and slot can do."""
    reset = [bdf for bdf in kernel.vfio_resets if bdf in {gpu.bdf for gpu in links.gpus()}]
    if not reset:
        return None
    low = [
        gpu
        for gpu in links.gpus()
        if gpu.bdf in reset
        and (gpu in shown_low(links) or (gpu.link_width or 0) < (gpu.cap_width or 0))
    ]
    if not low:
        return Cleared("the links of the cards that VFIO has reset are whole")
    raise Undecided(
        f"VFIO has reset {low[0].bdf}, and its link shows Gen{low[0].link_gen or '?'} x{low[0].link_width or '?'};"
        " whether it was whole before the reset is not told",
        settle="power the host off and on (cold), then sudo lspci -vv of card and port before the guest starts"
        " and again while it works",
        suspicion=0.4,
    )


RULES = (
    link_slower_in_the_bus_listing,
    copies_outrun_the_listing,
    reset_before_the_link_was_low,
)
