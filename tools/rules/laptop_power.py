"""The power budget of a laptop, which its firmware sets and no setting of the driver raises."""

from __future__ import annotations

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


RULES = (firmware_keeps_the_budget_low,)
