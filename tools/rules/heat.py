"""Heat: slowdown by the driver, slowdown by the hardware."""

from __future__ import annotations

from collections.abc import Sequence

from tools.errors import Undecided
from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Cleared, Effect, Finding, Outcome, rule

SLOW_SHARE = 0.9  # catalogue: clocks below 90 % of the start at the same limit
HOT_C = 83.0  # where drivers begin to lower clocks on most boards
COOL_W = 0.9  # a draw below 90 % of the limit cannot be the power cap
HW_HOT_C = 93.0  # slowdown temperature of most GeForce boards, where none is told
NEAR_C = 3.0
# One sample with the bit can be a change of P-state (the catalogue's false positive).
BIT_SHARE = 0.3
FEW = 4  # samples; fewer say nothing of how much of the time it is
_HALVED = ((-70.0, -50.0, -30.0), (-80.0, -65.0, -50.0))  # decode, prefill while the clock is cut

_SETTLE = (
    "Ten minutes of load: nvidia-smi --query-gpu=temperature.gpu,temperature.memory,clocks.sm,"
    "fan.speed,power.draw,clocks_event_reasons.active --format=csv -l 2"
)
_COOL = (
    "Now: lower the power limit by a quarter (nvidia-smi -pl), which costs prefill little and decode"
    " hardly anything.",
    "Then the air: fans and their curve, dust, filters, blanking plates, space between cards; passive"
    " cards need a server's airflow.",
    "If one card alone stays hot in the same air: its fan, paste or pads.",
)
_HW = frozenset(("hw_thermal_slowdown",))
_BARE = frozenset(("hw_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown"))


def _quote(sample: GpuSample) -> str:
    parts = [f"{sample.temp_c:.0f} C" if sample.temp_c else ""]
    parts += [f"SM {sample.sm_mhz:.0f}" if sample.sm_mhz else ""]
    parts[-1] += f" of {sample.sm_max_mhz:.0f} MHz" if sample.sm_mhz and sample.sm_max_mhz else ""
    parts += [f"{sample.power_w:.0f} W" if sample.power_w else ""]
    parts[-1] += (
        f" of {sample.power_limit_w:.0f} W" if sample.power_w and sample.power_limit_w else ""
    )
    parts += [f"fan {sample.fan_pct:.0f} %" if sample.fan_pct else ""]
    return ", ".join(part for part in parts if part)


def _said(sample: GpuSample) -> str:
    return f": {quote}" if (quote := _quote(sample)) else ""  # a grep may leave the reason alone


def _hot(sample: GpuSample) -> bool:
    return bool(sample.reasons and sample.reasons & _HW)


def _grown(gpus: Gpus, reason: str) -> bool:
    for group in gpus.by_gpu().values():
        seen = [one.reason_us[reason] for one in group if reason in one.reason_us]
        if len(seen) > 1 and seen[-1] > seen[0]:
            return True
    return False


@rule(cause="hw_thermal_slowdown")
def hardware_slows_for_heat(gpus: Gpus) -> Outcome:
    """The hardware halves a GPU's clocks because it is too hot."""
    told = [one for one in gpus.samples if one.reasons is not None]
    groups = gpus.by_gpu()
    gpu = next((name for name, group in groups.items() if any(_hot(one) for one in group)), "")
    if gpu or _grown(gpus, "hw_thermal_slowdown"):
        told = [one for one in groups.get(gpu, told) if one.reasons is not None]
        hot = [one for one in told if _hot(one)]
        one = hot[-1] if hot else gpus.samples[-1]
        which = gpus.called(gpu) if gpu else "the GPU"
        return Finding(
            statement=f"The hardware slows {which} for heat{_said(one)}.",
            confidence=0.92 if one.busy is not False else 0.75,
            slows=frozenset(("decode", "prefill", "ttft", "throughput", "tail")),
            effect=_while_hot(len(hot) / len(told) if hot and len(told) >= FEW else 1.0),
            remedy=_COOL,
            risk="the card protects itself; lasting heat ages it",
            verify="ten minutes of the same load: the counter of hw_thermal_slowdown stands still",
            quotes=(f"hw_thermal_slowdown in {len(hot)} of {len(told)} samples{_said(one)}",),
        )
    bare = [one for one in told if one.reasons and one.reasons & _BARE == {"hw_slowdown"}]
    if bare:
        return _bare(bare[-1])
    old = max((one.reason_us.get("hw_thermal_slowdown", 0) for one in gpus.samples), default=0)
    if old:
        raise Undecided(
            f"it was active for {old / 1e6:.1f} s since the driver was loaded",
            settle=_SETTLE,
            suspicion=0.15,
        )
    if told or any(one.reason_us for one in gpus.samples):
        return Cleared("no sample shows a thermal slowdown by hardware")
    raise Undecided("the clock reasons were not read", settle=_SETTLE, suspicion=0.03)


def _while_hot(share: float) -> Effect:
    """Return the loss of a slowdown that holds for a share of the time."""
    decode, prefill = ((low * share, mid * share, high * share) for low, mid, high in _HALVED)
    return Effect(
        decode,
        prefill,
        "an estimate" if share == 1 else "an estimate, for that share of the samples",
    )


def _bare(sample: GpuSample) -> Outcome:
    """Judge HW Slowdown without a reason of its own, as old drivers print it."""
    limit = sample.slowdown_temp_c or HW_HOT_C
    if sample.temp_c and sample.temp_c >= limit - NEAR_C and sample.busy is not False:
        return Finding(
            statement=f"The hardware slows the GPU, at its limit of heat: {_quote(sample)}.",
            confidence=0.7,
            slows=frozenset(("decode", "prefill", "ttft", "throughput", "tail")),
            effect=Effect((-70.0, -50.0, -30.0), (-80.0, -65.0, -50.0), "an estimate"),
            quotes=(f"hw_slowdown active: {_quote(sample)}",),
        )
    raise Undecided(
        "hw_slowdown alone: heat, the brake line, or a change of P-state",
        settle=_SETTLE,
        suspicion=0.3,
    )


@rule(cause="sw_thermal_slowdown")
def driver_slows_for_heat(gpus: Gpus) -> Outcome:
    """The driver lowers a GPU's clocks because it is hot."""
    work = [one for one in gpus.samples if one.busy]
    told = [one for one in work if one.reasons is not None]
    for gpu, group in gpus.working().items():  # each by itself: one hot card holds up its group
        seen = [one for one in group if one.reasons is not None]
        flagged = [one for one in seen if "sw_thermal_slowdown" in (one.reasons or ())]
        if flagged and len(flagged) >= BIT_SHARE * len(seen):
            how = f"the bit is set in {len(flagged)} of {len(seen)} samples"
            return _finding(gpus.called(gpu), flagged[-1], 0.85, how)
    for gpu, group in gpus.working().items():
        fallen = _fallen(group)
        if fallen:
            how = "clocks fall as it heats, with power to spare"
            return _finding(gpus.called(gpu), fallen, 0.75, how)
    if told:
        hottest = max((one.temp_c or 0.0 for one in told), default=0.0)
        bits = sum("sw_thermal_slowdown" in (one.reasons or ()) for one in told)
        seen_in = f"the thermal bit is set in {bits} of {len(told)} samples at work"
        reason = seen_in if bits else "no thermal reason at work"
        return Cleared(f"{reason}{f', {hottest:.0f} C at most' if hottest else ''}")
    if work and all(one.temp_c and one.temp_c < HOT_C for one in work):
        return Cleared(
            f"at work no GPU is hotter than {max(one.temp_c or 0 for one in work):.0f} C"
        )
    raise Undecided("no look at work tells heat", settle=_SETTLE, suspicion=0.03)


def _fallen(work: Sequence[GpuSample]) -> GpuSample | None:
    """Return a sample that is hot, slow and below its power limit, beside a faster one."""
    told = [one for one in work if one.sm_mhz and one.temp_c]
    best = max((one.sm_mhz or 0.0 for one in told), default=0.0)
    for one in reversed(told):
        spare = one.power_w and one.power_limit_w and one.power_w < COOL_W * one.power_limit_w
        hot = (one.temp_c or 0.0) >= min(HOT_C, (one.slowdown_temp_c or 999.0) - 4)
        if (one.sm_mhz or 0.0) < SLOW_SHARE * best and hot and spare:
            return one
    return None


def _finding(which: str, sample: GpuSample, confidence: float, how: str) -> Finding:
    return Finding(
        statement=f"{which[0].upper()}{which[1:]} is hot and its clocks are lowered: {_quote(sample)}.",
        confidence=confidence,
        slows=frozenset(("decode", "prefill", "ttft", "throughput", "tail")),
        effect=_as_the_clock(sample),
        remedy=_COOL,
        risk="none while it serves; opening the machine needs a window",
        verify="ten minutes of the same load: no thermal reason, and the SM clock holds",
        quotes=(f"{_quote(sample)}; {how}",),
    )


def _as_the_clock(sample: GpuSample) -> Effect:
    """Return the loss by the clock that is left: prefill follows it, decode hardly does."""
    if not (sample.sm_mhz and sample.sm_max_mhz):
        return Effect((-30.0, -10.0, 0.0), (-50.0, -25.0, -10.0), "an estimate")
    loss = round(100 * (sample.sm_mhz / sample.sm_max_mhz - 1), 1)
    return Effect(
        (0.5 * loss, 0.2 * loss, 0.0), (loss, 0.8 * loss, 0.5 * loss), "the SM clock that is left"
    )


RULES = (hardware_slows_for_heat, driver_slows_for_heat)
