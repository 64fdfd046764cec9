"""Clocks and ECC: locked, low, or as they are by design."""

from __future__ import annotations

from collections.abc import Sequence

from tools.engine import ServerLog
from tools.errors import Undecided
from tools.knowledge.gpus import gpu_named
from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Cleared, Effect, Finding, Outcome, rule

MEM_LOW = 0.9  # catalogue; P2 under CUDA lowers it by 2 to 5 % by design
LOW_SHARE = 0.8  # of the busy samples; the first second after idle still shows 810 MHz
SM_LOW = 0.85  # boards boost to 85 % and more of clocks.max.sm unless something holds them
SM_LOCKED = 0.75  # without a reason bit: boards differ in how far they boost
STEADY_MHZ = 15.0  # one step of the clock
STEADY_SAMPLES = 4
APART = 1.25  # rates of one request, fast against slow, that come back: a growing context does not
WORK_UTIL_PCT = 90.0  # in a P-state below P2, work shows in utilisation and power alone
WORK_POWER = 0.3  # of the limit; an idle GPU that polls or draws a desktop stays below it

_SETTLE = (
    "Under load: nvidia-smi --query-gpu=pstate,utilization.gpu,clocks.sm,clocks.max.sm,clocks.mem,"
    "clocks.max.mem,clocks_event_reasons.active --format=csv -lms 500"
)
_OTHER = {
    "sw_power_cap",
    "sw_thermal_slowdown",
    "hw_thermal_slowdown",
    "hw_power_brake_slowdown",
    "hw_slowdown",
}


@rule(cause="clocks_locked")
def clocks_held_down(gpus: Gpus, log: ServerLog | None) -> Outcome:
    """Somebody locked the SM clock below what the card reaches."""
    groups = {
        g: told for g, work in gpus.working().items() if (told := [s for s in work if s.sm_mhz])
    }
    work = [one for told in groups.values() for one in told]
    if not work:
        raise Undecided("no look at work tells the SM clock", settle=_SETTLE, suspicion=0.03)
    free = {g: told for g, told in groups.items() if not any(_other(one) for one in told)}
    if not free:
        return Cleared("power or heat set the clocks, not a lock")
    if not all(one.sm_max_mhz for one in work):
        raise Undecided("the highest SM clock is not told", settle=_SETTLE, suspicion=0.03)
    shares = {gpu: _sm_share(told) for gpu, told in free.items()}
    worst = min(shares, key=lambda gpu: shares[gpu])
    if shares[worst] >= SM_LOW or _boosts_no_higher(free[worst]):
        none = " and no reason holds it down" if shares[worst] < SM_LOW else ""
        return Cleared(f"the SM clock reaches {shares[worst]:.0%} of its maximum{none}")
    whose = "" if len(groups) == 1 else f" of GPU {worst}"
    return _held(free[worst], shares[worst], whose, _two_speeds(log))


def _other(sample: GpuSample) -> bool:
    return bool((sample.reasons or frozenset()) & _OTHER)


def _sm_share(work: Sequence[GpuSample]) -> float:
    return max((one.sm_mhz or 0.0) / (one.sm_max_mhz or 1.0) for one in work)


def _boosts_no_higher(work: Sequence[GpuSample]) -> bool:
    """Say whether nothing holds a clock down that is not far below its maximum: boards differ."""
    return all(one.reasons == frozenset() for one in work) and _sm_share(work) >= SM_LOCKED


def _two_speeds(log: ServerLog | None) -> str:
    """Tell of a decode rate that falls and comes back at one load: what stands still does not make it."""
    lines = log.steady() if log else ()
    alone = [one.tok_s for one in lines if one.tok_s and one.running == 1 and not one.accept_len]
    if len(alone) < 2 * STEADY_SAMPLES:
        return ""
    low = alone.index(min(alone))
    fast = min(max(alone[: low + 1]), max(alone[low:]))
    if fast < APART * alone[low]:
        return ""
    return f"one request decodes at {fast:.0f}, at {alone[low]:.0f} and at {fast:.0f} tok/s again"


def _held(work: Sequence[GpuSample], share: float, whose: str, speeds: str) -> Finding:
    asked = [one for one in work if one.reasons and "applications_clocks_setting" in one.reasons]
    clocks = [one.sm_mhz or 0.0 for one in work]
    flat = len(clocks) >= STEADY_SAMPLES and max(clocks) - min(clocks) <= STEADY_MHZ
    quote = (
        f"SM {clocks[-1]:.0f} of {work[-1].sm_max_mhz or 0:.0f} MHz in {len(work)} samples at work"
    )
    if not asked and not (flat and share < SM_LOCKED and work[0].reasons is not None):
        raise Undecided(f"{quote}, no reason told", settle="nvidia-smi -q -d CLOCK", suspicion=0.1)
    if speeds and not asked:
        raise Undecided(
            f"{speeds} at one and the same clock ({quote}): the clock does not make the difference",
            settle="nvidia-smi -q -d CLOCK, and a memory copy once a second with the server idle",
            suspicion=0.1,
        )
    loss = round(100 * (share - 1), 1)
    return Finding(
        statement=f"The SM clock{whose} is held at {clocks[-1]:.0f} MHz, {share:.0%} of its maximum.",
        confidence=0.8 if asked else 0.55,
        slows=frozenset(("prefill", "ttft")),
        effect=Effect(
            (-5.0, -2.0, 0.0), (loss, 0.8 * loss, 0.5 * loss), "an estimate: as the SM clock"
        ),
        quotes=(quote, *(("applications_clocks_setting active",) if asked else ())),
    )


def _memory(gpus: Gpus) -> dict[str, list[GpuSample]]:
    """Return each GPU's busy samples that tell the memory clock, without the first of many."""
    kept: dict[str, list[GpuSample]] = {}
    for gpu, group in gpus.by_gpu().items():
        told = [one for one in group if _works(one) and one.mem_mhz and _nominal(one)]
        if told:
            kept[gpu] = told[1:] if len(told) > 3 else told
    return kept


def _works(sample: GpuSample) -> bool:
    """Say whether a GPU works, in P3 and below too: a GPU held there is what is looked for."""
    if sample.busy or sample.pstate in (None, 0, 1, 2):
        return bool(sample.busy)
    draws = (sample.power_w or 0.0) >= WORK_POWER * (sample.power_limit_w or float("inf"))
    return (sample.util_pct or 0.0) >= WORK_UTIL_PCT and draws


def _nominal(sample: GpuSample) -> float | None:
    product = gpu_named(sample.name or "")
    return sample.mem_max_mhz or (product.mem_max_mhz if product else None)


def _share(sample: GpuSample) -> float:
    return (sample.mem_mhz or 0.0) / (_nominal(sample) or 1.0)


@rule(cause="mem_clock_low")
def memory_clock_low(gpus: Gpus) -> Outcome:
    """The memory clock stays low under load, and decode with it."""
    groups = _memory(gpus)
    if not groups:
        raise Undecided("no look at work tells the memory clock", settle=_SETTLE, suspicion=0.03)
    lows = {gpu: [one for one in work if _share(one) < MEM_LOW] for gpu, work in groups.items()}
    held = [gpu for gpu, low in lows.items() if low and len(low) >= LOW_SHARE * len(groups[gpu])]
    if not held:
        least = min(_share(work[-1]) for work in groups.values())
        return Cleared(f"the memory clock is at {least:.0%} of its maximum under load")
    worst = min(held, key=lambda gpu: _share(lows[gpu][-1]))
    low, work = lows[worst], groups[worst]
    whose = "" if len(groups) == 1 else f" of GPU {', '.join(held)}"
    expected = 0.96  # P2 under CUDA
    loss = round(100 * (min(_share(one) for one in low) / expected - 1), 1)
    return Finding(
        statement=(
            f"The memory clock{whose} stands at {low[-1].mem_mhz:.0f} MHz under load,"
            f" {_share(low[-1]):.0%} of its maximum."
        ),
        confidence=0.88 if len(low) > 2 else 0.7,
        slows=frozenset(("decode", "throughput")),
        effect=Effect((loss, loss, 0.8 * loss), (-10.0, -5.0, 0.0), "an estimate: as the clock"),
        quotes=(
            f"memory {low[-1].mem_mhz:.0f} of {_nominal(low[-1]) or 0:.0f} MHz"
            f"{f' in P{low[-1].pstate}' if low[-1].pstate is not None else ''},"
            f" {len(low)} of {len(work)} samples at work",
        ),
    )


@rule(cause="mem_clock_p2_by_design")
def memory_clock_of_p2(gpus: Gpus) -> Outcome:
    """CUDA runs the memory in P2, a few percent below its highest clock."""
    work = [s for told in _memory(gpus).values() for s in told if s.pstate in (2, None)]
    if not work or not all(MEM_LOW <= _share(one) < 0.99 for one in work):
        return None
    one = work[-1]
    return Finding(
        statement=f"Memory at {one.mem_mhz:.0f} of {_nominal(one) or 0:.0f} MHz is P2, by design.",
        confidence=0.5,  # true, yet nobody's answer: it must not outrank one
        benign=True,
        quotes=(f"memory {one.mem_mhz:.0f} of {_nominal(one) or 0:.0f} MHz",),
    )


@rule(cause="ecc_on_gddr6")
def ecc_costs_bandwidth(gpus: Gpus) -> Outcome:
    """ECC on GDDR6 memory costs some of its bandwidth."""
    cards = gpus.cards()
    if _all_hbm(cards):
        return Cleared("HBM carries ECC at no cost")
    on = [one for one in cards if _ecc(one)]
    if not on:
        if all(_ecc(one) is False for one in cards):
            return Cleared("ECC is off")
        raise Undecided(
            "no look tells ECC",
            settle="nvidia-smi --query-gpu=ecc.mode.current,memory.total --format=csv",
            suspicion=0.02,
        )
    if not all(_gddr(one) for one in on):
        raise Undecided("which memory this product has is not known", suspicion=0.02)
    return Finding(
        statement="ECC is on; on GDDR6 it takes some of the memory's bandwidth.",
        confidence=0.6,
        slows=frozenset(("decode",)),
        effect=Effect((-6.0, -5.0, -4.0), (-2.0, -1.0, 0.0), "rule of thumb, not measured here"),
        quotes=(f"ECC enabled, {on[0].mem_total_mib or 0:.0f} MiB",),
    )


def _ecc(sample: GpuSample) -> bool | None:
    """Say whether ECC is on: as told, or by the memory that it takes away."""
    if sample.ecc_on is not None:
        return sample.ecc_on
    product = gpu_named(sample.name or "")
    if product is None or sample.mem_total_mib is None or not product.mib_ecc_off:
        return None
    return sample.mem_total_mib == product.mib_ecc_on


def _gddr(sample: GpuSample) -> bool:
    """Say whether a product has GDDR memory, whose ECC lies in the same chips (by its rate)."""
    product = gpu_named(sample.name or "")
    return product is not None and product.bandwidth_gb_s < 1100 and product.arch != "Volta"


def _all_hbm(cards: Sequence[GpuSample]) -> bool:
    products = [gpu_named(one.name or "") for one in cards]
    return bool(products) and all(
        one is not None and (one.bandwidth_gb_s >= 1400 or one.arch == "Volta") for one in products
    )


RULES = (clocks_held_down, memory_clock_low, memory_clock_of_p2, ecc_costs_bandwidth)
