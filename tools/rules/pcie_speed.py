"""Generation of the GPUs' PCIe links: slow under load, or only resting."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tools.engine import Launch, ModelConfig, ServerInfo, ServerLog
from tools.engine.arguments import Arguments
from tools.engine.parallel import tp_size
from tools.errors import Undecided
from tools.knowledge.gpus import gpu_named
from tools.knowledge.links import pcie_gb_s
from tools.linux.kernel import KernelLog
from tools.linux.link_caps import possible_gens, shown_low
from tools.linux.machine import Machine
from tools.linux.pci import PciLinks
from tools.nvidia.gpus import Gpus
from tools.nvidia.link_reading import LinkReading, link_readings
from tools.nvidia.topology import Topology
from tools.physics.losses import link_loss
from tools.physics.seen import Seen
from tools.rule import Aspect, Cleared, Effect, Finding, Outcome, Where, rule

# The catalogue's threshold: a link that trains up late misses the first samples of a burst.
LOW_SHARE = 0.8
SLOT_BEHIND = 2
SURE_SAMPLES = 3  # fewer could be one burst that the link was just following

_SETTLE = (
    "Under load: nvidia-smi --query-gpu=index,pstate,utilization.gpu,pcie.link.gen.gpucurrent,"
    "pcie.link.gen.gpumax,pcie.link.gen.hostmax,pcie.link.width.current --format=csv -lms 200"
)
_AT_REST = "an idle GPU lowers its link by itself, so this is no proof of a fault yet"
_REMEDY = (
    "Power the {machine} off and on (cold: a warm reboot can keep a link down), then read the link under"
    " load again.",
    "If it stays low: reseat card and riser{where}, then swap the card with a good slot. A fault that stays"
    " with the slot is the riser or the board; one that moves is the card.",
    "Then the BIOS: that slot's link speed fixed at Gen{gen} instead of Auto, and ASPM off for it.",
)
_UNTIL_THEN = (
    "Until then long prompts suffer most and decode little: send cold long prompts to another"
    " machine, and {cache}."
)
_WARM = "keep the prefix cache warm"
_COLD = "see what keeping the prefix cache would need: it is off, so every turn pays again"
_FROZEN = (
    "The link may not change speed by itself (LnkCtl2 SpeedDis+): clear Hardware Autonomous Speed"
    " Disable on the card and retrain from the port above, GPU idle and the owner asked.",
    "If it does not come up: power off, reseat, other slot or riser.",
)
_SLOWS: frozenset[Aspect] = frozenset(("prefill", "ttft", "decode", "throughput"))


@rule(cause="pcie_gen_low_under_load")
def link_slower_than_the_slot(
    gpus: Gpus,
    links: PciLinks | None,
    machine: Machine | None,
    launch: Launch | None,
    log: ServerLog | None,
    info: ServerInfo | None,
    config: ModelConfig | None,
    topology: Topology | None,
) -> Outcome:
    """A GPU's PCIe link runs below what card and slot can do, under load."""
    readings = link_readings(gpus, possible_gens(links))
    slow = [one for one in readings if one.busy and one.possible and one.low_share >= LOW_SHARE]
    if not slow:
        return _not_slow(readings)
    worst = min(slow, key=lambda one: one.low_busy[0].link_gen or 0)
    gen, possible = worst.low_busy[0].link_gen or 1, worst.possible or 1
    tp = tp_size(launch, log, info)
    bdfs = {sample.bdf for one in slow for sample in one.samples if sample.bdf}
    frozen = [
        one for one in (links.devices if links else ()) if one.speed_frozen and one.bdf in bdfs
    ]
    cold = Arguments(launch, info, log).on("disable_radix_cache")
    # one at rest proves nothing
    under_load = Where(gpus, lambda look: bool(look.busy())) if gpus.busy() else gpus
    return Finding(
        statement=(
            f"The PCIe {'links' if len(slow) > 1 else 'link'} of {_names(slow)}"
            f" {'run' if len(slow) > 1 else 'runs'} at Gen{gen} under load; card and slot can do"
            f" Gen{possible}."
        ),
        shown_by=(under_load, links) if links and frozen else (under_load,),
        confidence=min(_sureness(one) for one in slow),
        slows=frozenset(("start",)) if tp == 1 else _SLOWS,
        effect=_effect(Seen(config, gpus, launch, info, log, topology), gen, possible, tp),
        remedy=(
            *_remedy(machine, _FROZEN if frozen else _steps(machine, possible, bdfs)),
            *(() if tp == 1 else (_UNTIL_THEN.format(cache=_COLD if cold else _WARM),)),
        ),
        risk="everything on that machine stops",
        verify=f"under load every sample shows Gen{possible}, and a cold long prompt is read faster",
        quotes=tuple(one.quote() for one in slow),
    )


def _names(readings: Sequence[LinkReading]) -> str:
    """Name GPUs as a person would: GPU 0; GPU 0 and GPU 1; GPU 0, GPU 1 and GPU 2."""
    names = [f"GPU {one.gpu}" for one in readings]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _host(machine: Machine | None) -> str:
    """Name what a guest runs on; empty for a machine that is no guest, or does not tell."""
    if machine is None or (machine.guest_of is None and machine.virt in (None, "none")):
        return ""
    return "Proxmox host" if machine.guest_of == "proxmox" else "host"


def _steps(machine: Machine | None, possible: int, bdfs: Collection[str]) -> tuple[str, ...]:
    """Return the steps in their order: cold start, then slot and riser, then the BIOS."""
    where = f" of {' and '.join(sorted(bdfs))}" if bdfs else ""
    host = _host(machine) or "machine"
    return tuple(step.format(machine=host, gen=possible, where=where) for step in _REMEDY)


def _remedy(machine: Machine | None, steps: tuple[str, ...]) -> tuple[str, ...]:
    """Tell a guest who may do the steps."""
    host = _host(machine)
    kind = f" ({machine.virt})" if machine and machine.virt not in (None, "none") else ""
    who = (
        f"Nothing of this can be done in this guest{kind}: it needs whoever administers the {host},"
        " and a window in which all its guests are down."
    )
    return (*((who,) if host else ()), *steps)


def _sureness(reading: LinkReading) -> float:
    """Return how sure a slow link is: a P-state without utilisation is half a witness."""
    if all(sample.util_pct is None for sample in reading.low_busy):
        return 0.6
    return 0.92 if len(reading.busy) >= SURE_SAMPLES else 0.75


def _effect(seen: Seen, gen: int, possible: int, tp: int | None) -> Effect:
    """Return the loss by the step model of this deployment, else by the rule of thumb."""
    cost = link_loss(seen)
    if cost is not None:
        return Effect(cost.decode_pct, cost.prefill_pct, cost.source)
    slow, fine = pcie_gb_s(gen, 16), pcie_gb_s(possible, 16)
    return Effect.of_slow_link(fine / slow, tp) if slow and fine else Effect()


def _not_slow(readings: Sequence[LinkReading]) -> Cleared:
    """Clear the links if the GPUs were seen busy at full speed; otherwise nothing is decided."""
    if not readings:
        raise Undecided("no look tells a link's generation", settle=_SETTLE, suspicion=0.05)
    for one in readings:
        if one.busy and one.low_share > 1 - LOW_SHARE:
            raise Undecided(f"under load it changes: {one.quote()}", settle=_SETTLE, suspicion=0.5)
    for one in readings:
        if one.low_at_rest and not one.busy:
            raise Undecided(f"{one.quote()}; {_AT_REST}", settle=_SETTLE, suspicion=0.3)
    unknown = [one for one in readings if not one.possible]
    if unknown:
        uneven = len({sample.link_gen for one in unknown for sample in one.samples}) > 1
        raise Undecided(
            f"{unknown[0].quote()}: which one is possible is not told",
            settle=_SETTLE,
            suspicion=0.3 if uneven else 0.05,
        )
    _check_slot(readings)
    gens = {one.samples[-1].link_gen for one in readings if not one.busy}
    gens |= {one.busy[-1].link_gen for one in readings if one.busy}
    if len(gens) == 1 and len(readings) > 1 and all(one.busy for one in readings):
        count = len(readings)
        return Cleared(
            f"the links of all {count} GPUs run at Gen{gens.pop()} at work, as fast as card and slot can"
        )
    return Cleared("the links are up: " + "; ".join(one.quote() for one in readings[:4]))


def _check_slot(readings: Sequence[LinkReading]) -> None:
    """Doubt a slot two generations below its card: no board of the card's age is built so."""
    for one in readings:
        product = gpu_named(one.samples[0].name or "")
        if product and one.possible and product.pcie_gen - one.possible >= SLOT_BEHIND:
            raise Undecided(
                f"GPU {one.gpu} can do Gen{product.pcie_gen}, and card and slot together only"
                f" Gen{one.possible}: an old board, or the slot's speed set in the BIOS",
                settle="on the host: the board's manual, and the slot's link speed in the BIOS",
                suspicion=0.3,
            )


@rule(cause="pcie_gen_idle_only")
def link_rests_when_idle(gpus: Gpus, links: PciLinks | None, kernel: KernelLog | None) -> Outcome:
    """A link that reads low was idle at that moment, and rises under load."""
    readings = link_readings(gpus, possible_gens(links))
    rests = [one for one in readings if one.low_at_rest]
    alarms = [*rests, *(shown_low(links) if links else ()), *(kernel.notices if kernel else ())]
    if not alarms or any(one.low_busy and one.low_share >= LOW_SHARE for one in readings):
        return None
    fine = [one for one in readings if one.busy and one.possible and one.low_share <= 1 - LOW_SHARE]
    if not fine:
        seen = f"{rests[0].quote()}; {_AT_REST}" if rests else "no reading under load"
        raise Undecided(seen, settle=_SETTLE, suspicion=0.35)
    if any(not one.busy for one in rests):
        raise Undecided(
            f"{rests[0].quote()}; others rise under load", settle=_SETTLE, suspicion=0.3
        )
    return Finding(
        statement=f"The link reads low only at rest: under load it is up ({fine[0].quote()}).",
        confidence=0.92 if len(fine[0].busy) >= SURE_SAMPLES else 0.75,
        benign=True,
        quotes=tuple(one.quote() for one in fine),
    )


RULES = (link_slower_than_the_slot, link_rests_when_idle)
