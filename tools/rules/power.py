"""Power caps: those that bind, and those that only look as if they did."""

from __future__ import annotations

from collections.abc import Sequence

from tools.errors import Undecided
from tools.nvidia.gpus import Gpus, GpuSample
from tools.physics.deployment import power_scale
from tools.rule import Cleared, Effect, Finding, Outcome, rule

CAP_SHARE = 0.2  # catalogue: the cap must be active in more than 20 % of the burst
SM_SHARE = 0.85  # and the SM clock below 85 % of its maximum
FREE_SHARE = 0.9  # a limit of 90 % of the default costs prefill at most 5 %: (P / default)^.5
AT_LIMIT = 0.97  # power draw at the limit, where reasons are not told
NEAR_LIMIT = 0.85  # draw of a card whose own limit caps it; averages of a burst stay above it
FELT_SHARE = 0.65  # of the SM clock's maximum: from here decode with drafts feels it, too
MEM_BUSY_PCT = 80.0  # utilization.memory of decode alone; a prefill among it lowers it below half
HELD_DOWN = 0.5  # of the SM clock's maximum: kernels of decode no longer keep the memory busy
MEM_FULL = 0.9  # memory clock at its P2 maximum is 95 to 98 % of the nominal one

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


def _groups(gpus: Gpus) -> dict[str, list[GpuSample]]:
    """Return what was seen at work of each GPU: one slow card holds up its group."""
    work = {id(one) for one in _at_work(gpus)}
    groups = {g: [one for one in group if id(one) in work] for g, group in gpus.by_gpu().items()}
    return {gpu: group for gpu, group in groups.items() if group}


def _sm_share(sample: GpuSample) -> float:
    return sample.sm_mhz / sample.sm_max_mhz if sample.sm_mhz and sample.sm_max_mhz else 1.0


def _other_cap(capped: Sequence[GpuSample]) -> str:
    """Quote a cap that is active though no sample comes near the limit; empty where one does."""
    told = [one for one in capped if one.power_w and one.power_limit_w]
    if not told or any(one.power_w >= NEAR_LIMIT * one.power_limit_w for one in told):  # type: ignore[operator]
        return ""
    return _quote(told)


def _binding(work: Sequence[GpuSample]) -> bool:
    return sum(_capped(one) for one in work) >= max(1.0, CAP_SHARE * len(work))


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


def _waits_for_memory(samples: Sequence[GpuSample]) -> bool:
    """Say whether the memory is busy nearly all the time: then fewer steps of the SM clock cost nothing."""
    told = [one.mem_util_pct for one in samples]
    return bool(told) and all(used is not None and used >= MEM_BUSY_PCT for used in told)


def _mild(share: float, samples: Sequence[GpuSample]) -> bool:
    """Say whether a limit below the default costs next to nothing: near it, or while memory binds."""
    return share >= FREE_SHARE or (share >= FELT_SHARE and _waits_for_memory(samples))


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
    groups = _groups(gpus)
    whole = [one for work in groups.values() for one in work]
    if not whole:
        raise Undecided("no look at work tells power", settle=_SETTLE, suspicion=0.03)
    bound = {gpu: work for gpu, work in groups.items() if _binding(work)}
    if not bound:
        count = sum(_capped(one) for one in whole)
        return Cleared(f"the power cap was active in {count} of {len(whole)} samples at work")
    gpu = min(bound, key=lambda name: _limit_share(bound[name]) or 9.0)
    work = bound[gpu]
    capped = [one for one in work if _capped(one)]
    whose = f" of GPU {gpu}" if len(groups) > 1 else ""
    if _hot(work):
        return Cleared("heat or the brake line slows the card, not its limit")
    if other := _other_cap([one for each in bound.values() for one in each if _capped(one)]):
        raise Undecided(
            f"the driver caps the power far below the limit that is set ({other}): some other budget binds,"
            " of a rail, the board or the machine",
            settle="nvidia-smi -q -d POWER,PERFORMANCE under load; power cables, the supply and the power"
            " profile of BMC or BIOS; then the same card in another machine",
            suspicion=0.5,
        )
    share = _limit_share(work)
    if share is None:
        raise Undecided("the default limit is not told", settle=_SETTLE, suspicion=0.1)
    if _mild(share, work):
        return Cleared(
            f"the limit is {share:.0%} of the default, which costs this load next to nothing"
        )
    if all(
        one.sm_mhz and one.sm_max_mhz and one.sm_mhz >= SM_SHARE * one.sm_max_mhz for one in work
    ):
        return Cleared("the SM clock stays above 85 % of its maximum")
    prefill = 100 * (power_scale(share, "prefill") - 1)
    decode = 100 * (power_scale(share, "decode") - 1)
    return Finding(
        statement=(
            f"The power limit{whose} is {capped[-1].power_limit_w or 0:.0f} W, {share:.0%} of the card's"
            " default, and it binds."
        ),
        remedy=(
            "On the host, as root: nvidia-smi -pl with the default in watts; ask first who set the"
            " limit (supply, noise, heat). It is forgotten at the next boot.",
        ),
        risk="more heat, and more load for the supply",
        verify="under the same load sw_power_cap is no longer active and the SM clock rises",
        confidence=0.8,
        slows=frozenset(
            ("prefill", "ttft", "decode", "throughput")
            if decode or max(map(_sm_share, capped)) < FELT_SHARE
            else ("prefill", "ttft")
        ),
        effect=Effect(
            (round(1.5 * decode, 1), round(decode, 1), round(0.5 * decode, 1)),
            (round(1.5 * prefill, 1), round(prefill, 1), round(0.5 * prefill, 1)),
            "one published curve (2x RTX 3090): decode flat to 65 %, prefill as the root",
        ),
        quotes=(_quote(capped), f"sw_power_cap in {len(capped)} of {len(work)} samples"),
    )


def _at(share: float | None) -> str:
    """Name a limit by its share of the default one."""
    return (
        "the default limit"
        if share is None or share > 0.99
        else f"{share:.0%} of the default limit"
    )


@rule(cause="power_cap_normal")
def cap_without_effect(gpus: Gpus) -> Outcome:
    """The power cap is active and does not slow decode, which memory bounds."""
    work = _at_work(gpus)
    capped = [one for one in work if _capped(one)]
    if not capped or len(capped) < CAP_SHARE * len(work) or _hot(work) or _other_cap(capped):
        return None
    share = _limit_share(work)
    if share is not None and not _mild(share, work):
        return None  # it costs prefill: cap_below_the_card
    if any(_sm_share(one) < HELD_DOWN for one in capped):
        return None  # so few steps of the SM clock cost decode, too
    full = _memory_full(work) or _waits_for_memory(work)
    if not full and share is None:
        raise Undecided(
            "neither default limit nor memory clock is told", settle=_SWEEP, suspicion=0.1
        )
    return Finding(
        statement=(
            "The power cap is active and costs decode nothing: decode is bound by memory, which is as fast and as"
            " busy as it gets."
            if full
            else f"The power cap is active at {_at(share)}, as in every prefill."
        ),
        confidence=0.8 if full else 0.6,
        category="at_ceiling" if full else "no_fault",
        remedy=(
            "Leave the cap; fewer bytes per token (quantisation, speculation) would be faster.",
        ),
        benign=True,
        quotes=(_quote(capped), f"sw_power_cap in {len(capped)} of {len(work)} samples"),
    )


RULES = (cap_below_the_card, cap_without_effect)
