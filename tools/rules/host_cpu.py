"""The host's CPU: clocks, neighbours, and whether it is simply slow."""

from __future__ import annotations

import re

from tools.errors import Undecided
from tools.linux.machine import Machine, Process, Processes, stolen_pct
from tools.nvidia.gpus import Gpus
from tools.rule import Cleared, Effect, Finding, Outcome, rule

MHZ_SHARE = 0.7  # catalogue: busy cores below 70 % of their maximum
FLOOR_SHARE = 0.95  # of the lowest step: clocks are rounded
RESTS_PCT = 95.0  # idle: nobody works there
STEAL_PCT = 5.0
IDLE_ENOUGH_PCT = 50.0  # half of the machine idle: cores are not fought for

_SLOW_CORES = re.compile(
    r"Threadripper (?:PRO )?[12]9\d\dX?|Ryzen [357] [12]\d{3}|EPYC 7\d\d1\b|E5-\d{4}\w?(?: v[1-4])?"
    r"|Xeon\(R\) (?:Gold|Silver|Platinum|Bronze) [3-8][12]\d\d",
)  # Zen and Zen+, Sandy Bridge to Cascade Lake: half to two thirds of a 2024 core per clock and MHz
_HOST_EFFECT = Effect(
    (-16.0, -9.0, -3.0), (-3.0, -1.0, 0.0), "the step model of other servers, host part x1.5 to x4"
)
_TOP = "top -H of the scheduler or engine core, and MHz per core, while one request decodes"


@rule(cause="cpu_governor_powersave")
def cores_kept_slow(machine: Machine) -> Outcome:
    """The CPU's governor keeps the cores slow."""
    if machine.virt not in (None, "none", "lxc", "docker", "podman"):
        raise Undecided("a guest does not see the host's governor", suspicion=0.05)
    if not machine.governors and machine.scaling_driver == "none":
        return Cleared("no driver of the kernel sets the clocks: firmware or hypervisor does")
    if not machine.governors:
        raise Undecided(
            "the governor is not told",
            settle="cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor | sort | uniq -c",
            suspicion=0.05,
        )
    saving = machine.governors.get("powersave", 0)
    if saving * 2 < sum(machine.governors.values()):
        return Cleared(
            f"the governor is {max(machine.governors, key=machine.governors.__getitem__)}"
        )
    fastest = max(machine.mhz_now, default=None)
    share = fastest / machine.mhz_max if fastest and machine.mhz_max else None
    if share is not None and share >= MHZ_SHARE:
        return Cleared(f"the fastest core runs at {share:.0%} of its maximum")
    driver = machine.scaling_driver or ""
    quotes = (f"powersave on {saving} cores, {driver or 'driver not told'}",)
    if driver.startswith("acpi"):
        return _governor(0.8, quotes, "and with acpi-cpufreq that is the lowest clock")
    busy = machine.load1 is not None and machine.load1 >= 1
    if share is not None and busy:
        return _governor(
            0.6, (*quotes, f"fastest core {fastest:.0f} MHz"), f"at {share:.0%} of the maximum"
        )
    raise Undecided(
        "powersave of intel_pstate or amd-pstate still boosts; the clocks under load decide",
        settle=_TOP,
        suspicion=0.15,
    )


def _governor(confidence: float, quotes: tuple[str, ...], why: str) -> Finding:
    return Finding(
        statement=f"The governor keeps the cores slow: powersave, {why}.",
        confidence=confidence,
        slows=frozenset(("decode", "ttft", "tail")),
        effect=_HOST_EFFECT,
        quotes=quotes,
    )


@rule(cause="cpu_contention")
def cores_are_fought_for(machine: Machine, processes: Processes | None) -> Outcome:
    """Neighbours take the CPU from the server."""
    steal = stolen_pct(machine, processes)
    if steal is not None and steal > STEAL_PCT:
        return _contended(f"{steal:.0f} % of the time goes to other guests (steal)", 0.8)
    seen = processes.idle_pct if processes else None
    idle = machine.idle_pct if machine.idle_pct is not None else seen
    if idle is not None and idle >= IDLE_ENOUGH_PCT:
        return Cleared(f"{idle:.0f} % of the CPU is idle")
    load = machine.load1 if machine.load1 is not None else processes.load1 if processes else None
    if load is None or machine.cpus is None:
        raise Undecided("the load is not told", settle="vmstat 1 5, under load", suspicion=0.03)
    if load <= machine.cpus:
        return Cleared(f"a load of {load:.1f} on {machine.cpus} cores")
    if machine.virt == "lxc":
        raise Undecided("in LXC the load average may be the host's", settle=_TOP, suspicion=0.15)
    if idle is None:
        raise Undecided(
            f"a load of {load:.1f} on {machine.cpus} cores; tasks that wait for a disk count there too",
            settle="vmstat 1 5, under load: id and st",
            suspicion=0.3,
        )
    return _contended(
        f"a load of {load:.1f} on {machine.cpus} cores, {idle:.0f} % of the CPU idle", 0.7
    )


def _contended(how: str, confidence: float) -> Finding:
    return Finding(
        statement=f"The cores are fought for: {how}.",
        confidence=confidence,
        slows=frozenset(("decode", "tail", "ttft", "throughput")),
        effect=_HOST_EFFECT,
        quotes=(how,),
    )


@rule(cause="cpu_contention")
def processes_burn_many_cores(processes: Processes) -> Outcome:
    """Processes burn far more cores than serving needs."""
    hungry = [row for row in processes.rows if _many_cores(row)]
    if processes.idle_pct is not None and processes.idle_pct >= IDLE_ENOUGH_PCT:
        return Cleared(f"{processes.idle_pct:.0f} % of the CPU is idle")
    if not hungry:
        return Cleared("no process uses many cores") if processes.rows else None
    names = ", ".join(
        f"{row.name or row.pid} {(row.cpu_pct or 0) / 100:.0f} cores" for row in hungry[:3]
    )
    raise Undecided(
        f"{names}: which threads, and why, top does not say",
        settle="perf top or py-spy dump --native on one of them, then thread limits and pinning",
        suspicion=0.4,
    )


def _many_cores(row: Process) -> bool:
    return row.cpu_pct is not None and row.cpu_pct >= 1000  # ten cores; an engine needs two a rank


@rule(cause="host_cpu_slow")
def cores_below_their_lowest_step(machine: Machine, processes: Processes | None) -> Outcome:
    """The hardware holds the cores below the lowest step that the kernel may choose."""
    fastest = max(machine.mhz_now, default=None)
    if fastest is None or not machine.mhz_min:
        return None
    if fastest >= FLOOR_SHARE * machine.mhz_min:
        return Cleared(f"the fastest core runs at {fastest:.0f} MHz, no less than its lowest step")
    rests = processes is not None and (processes.idle_pct or 0.0) > RESTS_PCT
    if rests or (processes is None and (machine.load1 or 0.0) < 1):
        return None  # a sleeping core may show any figure
    return Finding(
        statement=(
            f"Every core runs at {fastest:.0f} MHz or less under load, below the {machine.mhz_min:.0f} MHz that"
            " are the lowest step of its policy: no governor does that, the hardware does (PROCHOT, a limit of"
            " power or current, an alarm of the board or its BMC)."
        ),
        confidence=0.8,
        slows=frozenset(("decode", "prefill", "ttft", "tail", "throughput", "start")),
        remedy=(
            "turbostat --show Busy%,Bzy_MHz,PkgTmp,PkgWatt, and the BMC's sensors: which limit is it?",
            "Cooler and airflow, power supplies and their cables, then the limits in BIOS and BMC.",
        ),
        risk="the machine must be opened",
        verify="under load the cores run above their base clock",
        quotes=(f"fastest core {fastest:.0f} MHz, lowest step {machine.mhz_min:.0f} MHz",),
    )


@rule(cause="host_cpu_slow")
def cpu_is_slow(machine: Machine, gpus: Gpus | None) -> Outcome:
    """The host's cores are too slow for the work between two steps."""
    if machine.cpu_model is None:
        raise Undecided("the CPU's model is not told", settle="lscpu", suspicion=0.03)
    old = _SLOW_CORES.search(machine.cpu_model) is not None
    busy = gpus.busy() if gpus else ()
    waits = any(one.util_pct is not None and one.util_pct < 90 for one in busy)
    raise Undecided(
        f"{machine.cpu_model.strip()}: no timing of the host's part of a step was seen",
        settle=f"{_TOP}; or an nsys trace of the gaps between steps",
        suspicion=0.35 if old else 0.2 if waits else 0.08,
    )


RULES = (
    cores_kept_slow,
    cores_are_fought_for,
    processes_burn_many_cores,
    cores_below_their_lowest_step,
    cpu_is_slow,
)
