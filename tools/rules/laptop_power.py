"""The power budget of a laptop or a small box, which its firmware sets and no setting of the driver raises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tools.nvidia.at_work import falls_at_work
from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Cleared, Finding, Outcome, rule

HELD_DOWN = 0.6  # of the SM clock's maximum, at work and cool
BELOW_MAX = 0.8  # of the highest limit that the board could be given
_MOBILE = ("laptop", "max-q", "mobile")
_HEAT = frozenset(("sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown"))


@rule(cause="laptop_ec_power")
def firmware_keeps_the_budget_low(gpus: Gpus) -> Outcome:
    """A laptop's firmware gives its GPU less power than it could have."""
    ours = [one for one in gpus.busy() if any(w in (one.name or "").lower() for w in _MOBILE)]
    if not ours:
        return None
    capped = [one for one in ours if one.reasons and "sw_power_cap" in one.reasons]
    if not capped or any(one.reasons & _HEAT for one in capped if one.reasons):
        return Cleared("the power cap is not what slows this laptop's GPU")
    held = [one for one in capped if _held_down(one)]
    if not held:
        return Cleared("under its power cap the SM clock stays above 60 % of its maximum")
    one = held[len(held) // 2]
    limit = f"{one.power_limit_w:.0f} W" if one.power_limit_w else "a limit that it does not tell"
    most = f", and could have {one.power_max_w:.0f} W" if _more(one) else ""
    return Finding(
        statement=(
            f"The laptop's firmware keeps its GPU at {limit}{most}: at work the SM clock stays at"
            f" {one.sm_mhz or 0:.0f} of {one.sm_max_mhz or 0:.0f} MHz."
        ),
        confidence=0.85 if _more(one) else 0.7,
        slows=frozenset(("decode", "prefill", "ttft", "throughput")),
        remedy=(
            "The vendor's charger, plugged in, and its performance profile; a smaller charger lowers the budget.",
            "Dynamic Boost: nvidia-powerd running, or stopped where it holds the budget down; compare both.",
            "A newer BIOS. nvidia-smi -pl is refused on laptops.",
        ),
        verify="under the same load power.draw and the SM clock rise",
        quotes=(
            f"{one.power_w or 0:.0f} W of {limit}, SM {one.sm_mhz or 0:.0f} of {one.sm_max_mhz or 0:.0f} MHz",
        ),
    )


def _held_down(one: GpuSample) -> bool:
    return bool(one.sm_mhz and one.sm_max_mhz and one.sm_mhz < HELD_DOWN * one.sm_max_mhz)


def _more(one: GpuSample) -> bool:
    return bool(
        one.power_max_w and one.power_limit_w and one.power_limit_w < BELOW_MAX * one.power_max_w
    )


@rule(cause="laptop_ec_power")
def clock_falls_when_work_comes(gpus: Gpus) -> Outcome:
    """The SM clock is high at rest and falls as soon as the GPU works, for no reason that it tells."""
    for gpu, group in _cards(gpus).items():
        fall = falls_at_work(group)
        if fall is None:
            continue
        rest, work = fall
        name = gpus.called(gpu) if len(_cards(gpus)) > 1 else "the GPU"
        one = next(s for s in reversed(group) if s.busy and s.sm_mhz)
        watts = next((s.power_w for s in reversed(group) if s.busy and s.power_w), None)
        heat = max((s.temp_c for s in group if s.temp_c), default=None)
        also = ", ".join(
            said
            for said, told in ((f"{watts or 0:.0f} W", watts), (f"{heat or 0:.0f} C", heat))
            if told
        )
        return Finding(
            statement=(
                f"The SM clock of {name} is {rest:.0f} MHz at rest and falls to {work:.0f} MHz at"
                f" work{f' ({also})' if also else ''}, with no clock reason active: a budget below the driver,"
                " of supply or firmware, holds it. A lock would hold it at rest too."
            ),
            confidence=0.8,
            slows=frozenset(("decode", "prefill", "ttft", "throughput")),
            remedy=(
                "Take the mains plug out of supply and machine for a minute: a reboot does not clear such a state.",
                "The vendor's own supply and cable, then newer firmware.",
            ),
            verify="under the same load power.draw and the SM clock rise",
            quotes=(f"SM {rest:.0f} MHz at rest, {one.sm_mhz or 0:.0f} MHz at work",),
        )
    return None


def _cards(gpus: Gpus) -> Mapping[str, Sequence[GpuSample]]:
    """Return the samples of each GPU; one look may tell the index of the only card, another its address."""
    indexes = {one.index for one in gpus.samples if one.index is not None}
    addresses = {one.bdf for one in gpus.samples if one.bdf}
    only = len(indexes) == len(addresses) == 1 and (gpus.attached or 1) == 1
    return {"0": gpus.samples} if only else gpus.by_gpu()


RULES = (firmware_keeps_the_budget_low, clock_falls_when_work_comes)
