"""Copies between host and GPU that somebody measured: they load the link, so they show it at work."""

from __future__ import annotations

from tools.engine import Launch, ServerInfo, ServerLog
from tools.engine.parallel import tp_size
from tools.errors import Undecided
from tools.knowledge.links import pcie_gb_s
from tools.linux.link_caps import possible_gens
from tools.linux.pci import PciLinks
from tools.nvidia.gpus import Gpus
from tools.nvidia.host_copies import CopyReading, copy_readings
from tools.nvidia.topology import Topology
from tools.rule import Cleared, Effect, Finding, Outcome, Where, rule

_SETTLE = (
    "while nvbandwidth -t host_to_device_memcpy_ce runs: nvidia-smi --query-gpu=index,"
    "pcie.link.gen.gpucurrent,pcie.link.gen.gpumax,pcie.link.gen.hostmax,pcie.link.width.current"
    " --format=csv -lms 200"
)


@rule(cause="pcie_gen_low_under_load")
def copies_slower_than_the_link(
    topology: Topology,
    gpus: Gpus | None,
    links: PciLinks | None,
    launch: Launch | None,
    log: ServerLog | None,
    info: ServerInfo | None,
) -> Outcome:
    """Copies between host and GPU are far slower than card and slot can do."""
    if not topology.host_rates:
        raise Undecided("")
    readings = copy_readings(topology, gpus, possible_gens(links))
    slow = [one for one in readings if one.slow]
    if slow:
        return _slow(topology, slow, tp_size(launch, log, info))
    if readings and all(one.fine for one in readings):
        return Cleared(
            f"copies show the links up: {'; '.join(one.quote() for one in readings[:4])}"
        )
    middling = next((one.quote() for one in readings if not one.fine), "")
    raise Undecided(
        f"copies are slower than usual, by less than a generation ({middling})"
        if middling
        else "copies between host and GPU were measured; what their links can do is not told",
        settle=_SETTLE,
        suspicion=0.25 if middling else 0.1,
    )


def _slow(topology: Topology, slow: list[CopyReading], tp: int | None) -> Finding:
    worst = min(slow, key=lambda one: one.gb_s / one.possible_gb_s)
    unsure = "" if worst.told else " Fewer lanes would show the same."
    return Finding(
        f"Copies between host and GPU {worst.gpu} reach {worst.gb_s:.1f} GB/s, as over Gen{worst.like_gen}"
        f" x{worst.width}; {'card and slot' if worst.told else 'such a card'} can do Gen{worst.gen}, which"
        f" gives {worst.possible_gb_s:.0f} GB/s.{unsure}",
        shown_by=(Where(topology, lambda look: bool(look.host_rates)),),
        confidence=0.85 if worst.told else 0.6,
        slows=frozenset({"start"})
        if tp == 1
        else frozenset({"prefill", "ttft", "decode", "throughput"}),
        effect=_effect(worst, tp),
        remedy=(
            f"Read generation and lanes while copies run: {_SETTLE}",
            "Power the machine off and on (cold), then measure again.",
            "If it stays slow: reseat card and riser, then swap the card with a good slot.",
        ),
        risk="everything on that machine stops",
        verify="nvbandwidth -t host_to_device_memcpy_ce gives every card of a kind the same rate",
        quotes=tuple(one.quote() for one in slow),
    )


def _effect(worst: CopyReading, tp: int | None) -> Effect:
    now, fine = pcie_gb_s(worst.like_gen, worst.width), pcie_gb_s(worst.gen, worst.width)
    return Effect.of_slow_link(fine / now, tp) if now and fine else Effect()


RULES = (copies_slower_than_the_link,)
