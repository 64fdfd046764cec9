"""Power: caps that bind and caps that do not, the brake line, and supplies that trip."""

from __future__ import annotations

from collections.abc import Sequence

from tools.errors import Undecided
from tools.linux.kernel import KernelLog
from tools.linux.machine import Machine
from tools.nvidia.gpus import Gpus, GpuSample
from tools.physics.deployment import power_scale
from tools.rule import Cleared, Effect, Finding, Outcome, rule

CAP_SHARE = 0.2  # catalogue: the cap must be active in more than 20 % of the burst
SM_SHARE = 0.85  # and the SM clock below 85 % of its maximum
FREE_SHARE = 0.9  # a limit of 90 % of the default costs prefill at most 5 %: (P / default)^.5
AT_LIMIT = 0.97  # power draw at the limit, where reasons are not told
MEM_FULL = 0.9  # memory clock at its P2 maximum is 95 to 98 % of the nominal one
REST_W = 100.0  # CPU, board, disks and fans, at the least

_SETTLE = (
    "Under load: nvidia-smi --query-gpu=enforced.power.limit,power.default_limit,power.draw,"
    "clocks.sm,clocks.max.sm,clocks_event_reasons.active --format=csv -lms 500"
)
_SWEEP = "Sweep nvidia-smi -pl over three limits and compare decode and prefill tok/s"


def _at_work(gpus: Gpus) -> list[GpuSample]:
    """Return the samples at work; where neither use nor P-state is told, those at their limit."""
    busy = list(gpus.busy())
    if busy or any(one.busy is not None for one in gpus.samples):
        return busy
    return [one for one in gpus.samples if _draws_its_limit(one) or one.reasons]


def _draws_its_limit(sample: GpuSample) -> bool:
    return bool(
        sample.power_w
        and sample.power_limit_w
        and sample.power_w >= AT_LIMIT * sample.power_limit_w
    )


def _capped(sample: GpuSample) -> bool:
    if sample.reasons is not None:
        return "sw_power_cap" in sample.reasons
    return _draws_its_limit(sample)


def _hot(samples: Sequence[GpuSample]) -> bool:
    other = {"sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown"}
    return any(one.reasons and one.reasons & other for one in samples)


def _limit_share(samples: Sequence[GpuSample]) -> float | None:
    """Return the lowest limit as a share of the default one."""
    shares = [
        one.power_limit_w / one.power_default_w
        for one in samples
        if one.power_limit_w and one.power_default_w
    ]
    return min(shares) if shares else None


def _memory_full(samples: Sequence[GpuSample]) -> bool:
    told = [(one.mem_mhz, one.mem_max_mhz) for one in samples if one.mem_mhz and one.mem_max_mhz]
    return bool(told) and all(now >= MEM_FULL * best for now, best in told)


def _quote(samples: Sequence[GpuSample]) -> str:
    one = samples[len(samples) // 2]
    parts = [
        f"{one.power_w:.0f} of {one.power_limit_w:.0f} W"
        if one.power_w and one.power_limit_w
        else ""
    ]
    parts += [f"default {one.power_default_w:.0f} W" if one.power_default_w else ""]
    parts += [
        f"SM {one.sm_mhz:.0f} of {one.sm_max_mhz:.0f} MHz" if one.sm_mhz and one.sm_max_mhz else ""
    ]
    parts += [
        f"memory {one.mem_mhz:.0f} of {one.mem_max_mhz:.0f} MHz"
        if one.mem_mhz and one.mem_max_mhz
        else ""
    ]
    return ", ".join(part for part in parts if part)


@rule(cause="power_cap_low")
def cap_below_the_card(gpus: Gpus) -> Outcome:
    """A power limit below the card's default slows it."""
    work = _at_work(gpus)
    if not work:
        raise Undecided("no look at work tells power", settle=_SETTLE, suspicion=0.03)
    capped = [one for one in work if _capped(one)]
    if len(capped) < CAP_SHARE * len(work):
        return Cleared(f"the power cap was active in {len(capped)} of {len(work)} samples at work")
    if _hot(work):
        return Cleared("heat or the brake line slows the card, not its limit")
    share = _limit_share(work)
    if share is None:
        raise Undecided("the default limit is not told", settle=_SETTLE, suspicion=0.1)
    if share >= FREE_SHARE:
        return Cleared(f"the limit is {share:.0%} of the default, which costs next to nothing")
    if all(
        one.sm_mhz and one.sm_max_mhz and one.sm_mhz >= SM_SHARE * one.sm_max_mhz for one in work
    ):
        return Cleared("the SM clock stays above 85 % of its maximum")
    prefill = 100 * (power_scale(share, "prefill") - 1)
    decode = 100 * (power_scale(share, "decode") - 1)
    return Finding(
        statement=f"The power limit is {share:.0%} of the card's default and binds.",
        confidence=0.8,
        slows=frozenset(
            ("prefill", "ttft", "decode", "throughput") if decode else ("prefill", "ttft")
        ),
        effect=Effect(
            (round(1.5 * decode, 1), round(decode, 1), round(0.5 * decode, 1)),
            (round(1.5 * prefill, 1), round(prefill, 1), round(0.5 * prefill, 1)),
            "physics section 2: decode flat to 65 %, prefill as the root; one curve (TP2 RTX 3090)",
        ),
        quotes=(_quote(capped), f"sw_power_cap in {len(capped)} of {len(work)} samples"),
    )


@rule(cause="power_cap_normal")
def cap_without_effect(gpus: Gpus) -> Outcome:
    """The power cap is active and does not slow decode, which memory bounds."""
    work = _at_work(gpus)
    capped = [one for one in work if _capped(one)]
    if not capped or len(capped) < CAP_SHARE * len(work) or _hot(work):
        return None
    share = _limit_share(work)
    if share is not None and share < FREE_SHARE:
        return None  # it costs prefill: cap_below_the_card
    full = _memory_full(work)
    if not full and share is None:
        raise Undecided(
            "neither default limit nor memory clock is told", settle=_SWEEP, suspicion=0.1
        )
    return Finding(
        statement=(
            "The power cap is active and costs decode nothing: the memory clock stands at its"
            " maximum, and decode is bound by memory."
            if full
            else "The power cap is active at the default limit, as in every prefill."
        ),
        confidence=0.8 if full else 0.6,
        category="at_ceiling" if full else "no_fault",
        remedy=(
            "Leave the cap; fewer bytes per token (quantisation, speculation) would be faster.",
        ),
        benign=True,
        quotes=(_quote(capped), f"sw_power_cap in {len(capped)} of {len(work)} samples"),
    )


@rule(cause="hw_power_brake")
def brake_line_asserted(gpus: Gpus) -> Outcome:
    """The board's external power brake slows a GPU."""
    told = [one for one in gpus.samples if one.reasons is not None]
    braked = [one for one in told if "hw_power_brake_slowdown" in (one.reasons or ())]
    rising = _rising(gpus, "hw_power_brake_slowdown")
    if braked or rising:
        one = (braked or list(gpus.samples))[0]
        return Finding(
            statement="The power brake line is asserted: the board slows the GPU by hardware.",
            confidence=0.92 if braked and one.busy is not False else 0.75,
            slows=frozenset(("decode", "prefill", "ttft", "throughput")),
            effect=Effect((-80.0, -65.0, -50.0), (-80.0, -65.0, -50.0), "catalogue"),
            quotes=(
                _quote([one]) + f", {one.temp_c or 0:.0f} C, hw_power_brake_slowdown active",
                *rising,
            ),
        )
    old = max((one.reason_us.get("hw_power_brake_slowdown", 0) for one in gpus.samples), default=0)
    if old:
        raise Undecided(
            f"the brake was active for {old / 1e6:.1f} s since the driver was loaded, perhaps at boot",
            settle="clocks_event_reasons_counters.hw_power_brake_slowdown before and after a load",
            suspicion=0.15,
        )
    if not told and not any(one.reason_us for one in gpus.samples):
        raise Undecided("the clock reasons were not read", settle=_SETTLE, suspicion=0.03)
    return Cleared("no sample shows the power brake")


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


RULES = (cap_below_the_card, cap_without_effect, brake_line_asserted, supply_switches_off)
