"""The supply of power: the brake line that it asserts, and supplies that switch off."""

from __future__ import annotations

from tools.errors import Undecided
from tools.linux.kernel import KernelLog
from tools.linux.machine import Machine
from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Cleared, Effect, Finding, Outcome, rule

_BRAKE = "hw_power_brake_slowdown"
REST_W = 100.0  # CPU, board, disks and fans, at the least

_SETTLE = (
    "Under load: nvidia-smi --query-gpu=power.draw,clocks.sm,clocks.max.sm,"
    "clocks_event_reasons.active --format=csv -lms 500"
)


def _quote(one: GpuSample) -> str:
    parts = [
        f"{one.power_w:.0f} of {one.power_limit_w:.0f} W"
        if one.power_w and one.power_limit_w
        else "",
        f"SM {one.sm_mhz:.0f} of {one.sm_max_mhz:.0f} MHz" if one.sm_mhz and one.sm_max_mhz else "",
        f"{one.temp_c:.0f} C" if one.temp_c else "",
    ]
    return ", ".join(part for part in parts if part)


@rule(cause="hw_power_brake")
def brake_line_asserted(gpus: Gpus) -> Outcome:
    """The board's external power brake slows a GPU."""
    told = [one for one in gpus.samples if one.reasons is not None]
    braked = [one for one in told if _BRAKE in (one.reasons or ())]
    rising = _rising(gpus, _BRAKE)
    if braked and not rising and all(map(_at_rest_alone, gpus.by_gpu().values())):
        return Cleared("the power brake shows at rest alone; under load no sample has it")
    if braked or rising:
        one = (braked or list(gpus.samples))[0]
        return Finding(
            statement="The power brake line is asserted: the board slows the GPU by hardware.",
            confidence=0.92 if braked and one.busy is not False else 0.75,
            slows=frozenset(("decode", "prefill", "ttft", "throughput")),
            effect=Effect((-80.0, -65.0, -50.0), (-80.0, -65.0, -50.0), "an estimate"),
            quotes=(
                f"{_quote(one)}, hw_power_brake_slowdown active",
                *rising,
            ),
        )
    old = max((one.reason_us.get(_BRAKE, 0) for one in gpus.samples), default=0)
    if old:
        raise Undecided(
            f"the brake was active for {old / 1e6:.1f} s since the driver was loaded, perhaps at boot",
            settle="clocks_event_reasons_counters.hw_power_brake_slowdown before and after a load",
            suspicion=0.15,
        )
    if not told and not any(one.reason_us for one in gpus.samples):
        raise Undecided("the clock reasons were not read", settle=_SETTLE, suspicion=0.03)
    return Cleared("no sample shows the power brake")


def _at_rest_alone(group: tuple[GpuSample, ...]) -> bool:
    """Say whether one GPU shows no brake at work, and was seen at work if it shows one at rest."""
    braked = [one for one in group if _BRAKE in (one.reasons or ())]
    worked = any(one.busy and one.reasons is not None for one in group)
    return not braked or (worked and all(one.busy is False for one in braked))


def _rising(gpus: Gpus, reason: str) -> tuple[str, ...]:
    """Return the GPUs whose counter of a reason grew between two looks."""
    grown = []
    for gpu, group in gpus.by_gpu().items():
        seen = [one.reason_us[reason] for one in group if reason in one.reason_us]
        if len(seen) > 1 and seen[-1] > seen[0]:
            grown.append(f"GPU {gpu}: {reason} +{(seen[-1] - seen[0]) / 1e6:.2f} s")
    return tuple(grown)


@rule(cause="psu_trips")
def supply_switches_off(gpus: Gpus, machine: Machine | None, kernel: KernelLog | None) -> Outcome:
    """The power supply switches off when all GPUs load at once."""
    limits = [
        max((one.power_limit_w or 0.0 for one in group), default=0.0)
        for group in gpus.by_gpu().values()
    ]
    supply = machine.supply_w if machine else None
    if kernel and (kernel.mce or kernel.thermal_trips):
        return Cleared("the kernel log names another cause: machine check or thermal trip")
    cuts = kernel.ends_mid_line if kernel else 0
    if supply is None or not all(limits) or not limits:
        if cuts:
            raise Undecided(
                f"{cuts} boots end without a shutdown, and the supply's rating is not told",
                settle="sudo dmidecode -t 39, and the sum of the GPUs' limits",
                suspicion=0.35,
            )
        raise Undecided("the supply's rating is not told", suspicion=0.01)
    need = sum(limits) + REST_W
    if need < supply:
        return Cleared(f"limits of {sum(limits):.0f} W leave room in a supply of {supply:.0f} W")
    if not cuts:
        raise Undecided(
            f"GPU limits of {sum(limits):.0f} W in a supply of {supply:.0f} W; no cut was seen",
            settle="journalctl --list-boots, and the last lines of each boot before",
            suspicion=0.2,
        )
    return Finding(
        statement=(
            f"The supply trips: GPU limits of {sum(limits):.0f} W and at least {REST_W:.0f} W of the"
            f" rest on a supply of {supply:.0f} W, and {cuts} boots end without a word."
        ),
        confidence=0.88,
        slows=frozenset(("crash",)),
        quotes=(f"supply {supply:.0f} W", f"limits {' + '.join(f'{one:.0f}' for one in limits)} W"),
    )


RULES = (brake_line_asserted, supply_switches_off)
