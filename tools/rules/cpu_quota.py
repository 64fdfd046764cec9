"""A container's CPU quota: used up, or too small for pools that are sized by the host's cores."""

from __future__ import annotations

from statistics import median

from tools.engine import Launch, ServerLog
from tools.engine.parallel import tp_size
from tools.errors import Undecided
from tools.linux.machine import PERIOD_S, Machine
from tools.nvidia.gpus import Gpus
from tools.rule import Cleared, Effect, Finding, Outcome, rule

THROTTLED_SHARE = 0.05  # of the periods within a load; single ones are bursts at start
CORES_A_RANK = 2  # one spins for the GPU, one launches and receives
HOST_CORES = 4.0  # times the quota: a pool sized by the host's cores starves in the container
COLLAPSE = 0.3  # rate of a burst against the usual one, at the same number of requests
OLD_SHARE = 0.1  # of the periods since boot: worth a look, no proof
IDLE_ENOUGH_PCT = 50.0  # half of the machine idle: cores are not fought for


@rule(cause="cpu_cgroup_throttled")
def quota_used_up(machine: Machine, log: ServerLog | None, launch: Launch | None) -> Outcome:
    """The container's CPU quota is used up, and the engine waits for the next period."""
    if machine.quota_cpus is None:
        if machine.quota_told:
            return Cleared("no CPU quota is set")
        raise Undecided("cpu.max was not read", settle="cat /sys/fs/cgroup/cpu.max", suspicion=0.03)
    if machine.throttled_delta is not None and machine.window_s:
        share = machine.throttled_delta / max(1.0, machine.window_s / PERIOD_S)
        if share < THROTTLED_SHARE:
            return Cleared(
                f"{machine.throttled_delta} throttled periods in {machine.window_s:.0f} s"
            )
        return _throttled(
            machine, 0.9, f"in {share:.0%} of the periods of {machine.window_s:.0f} s"
        )
    if not machine.periods:
        ranks = tp_size(launch, log, None) or 1
        small = machine.quota_cpus < CORES_A_RANK * ranks
        raise Undecided(
            f"a quota of {machine.quota_cpus:g} cores{f' for {ranks} rank(s)' if small else ''};"
            " how often it bites is not told",
            settle="cpu.stat twice, a load between: nr_throttled",
            suspicion=0.35 if small else 0.1,
        )
    share = (machine.throttled_periods or 0) / machine.periods
    if share == 0:
        return Cleared("no period was throttled since the container started")
    if share >= OLD_SHARE and _collapses(log):
        return _throttled(machine, 0.65, f"in {share:.0%} of all periods, and the rate collapses")
    raise Undecided(
        f"{share:.0%} of all periods since start were throttled; when, is not told",
        settle="cpu.stat twice, a load between: nr_throttled",
        suspicion=0.3 if share >= OLD_SHARE else 0.1,
    )


def _throttled(machine: Machine, confidence: float, how: str) -> Finding:
    return Finding(
        statement=f"The quota of {machine.quota_cpus:g} cores is used up {how}.",
        confidence=confidence,
        slows=frozenset(("tail", "decode", "ttft", "throughput")),
        effect=Effect(
            (-50.0, -20.0, -5.0), (-30.0, -10.0, 0.0), "an estimate: demand against quota"
        ),
        remedy=(
            "Raise the CPU limit, or drop it and keep the request: two cores for each GPU of the group"
            " and four besides is a fair start.",
            "Where it is set: Kubernetes resources.limits.cpu; docker --cpus; Proxmox: pct set ID"
            " --cpulimit; systemd CPUQuota.",
        ),
        risk="docker update and pct set act at once; a pod starts anew",
        verify="cpu.stat twice under load: nr_throttled stands still",
        quotes=(_counted(machine),),
    )


def _counted(machine: Machine) -> str:
    if machine.throttled_delta is not None and machine.window_s:
        count = f"{machine.throttled_delta} periods of 0.1 s within {machine.window_s:.0f} s"
    else:
        count = f"{machine.throttled_periods} of {machine.periods} periods"
    return f"cpu.max {machine.quota_cpus:g} cores, throttled {count}"


def _collapses(log: ServerLog | None) -> bool:
    """Say whether the decode rate falls to a fraction while as many requests run."""
    steady = [line for line in log.decode if line.tok_s and line.running] if log else []
    if len(steady) < 3:
        return False
    best = median(sorted(line.tok_s or 0.0 for line in steady)[len(steady) // 2 :])
    most = max(line.running or 0 for line in steady)
    return any((one.tok_s or 0.0) < COLLAPSE * best and one.running == most for one in steady)


@rule(cause="grammar_compile_cpu_throttle")
def grammar_pool_starves_the_engine(machine: Machine, log: ServerLog, gpus: Gpus | None) -> Outcome:
    """Compiling grammars takes the few cores of the container from the decode thread."""
    if machine.quota_cpus is None:
        return Cleared("no CPU quota is set") if machine.quota_told else None
    many = machine.cpus is not None and machine.cpus >= HOST_CORES * machine.quota_cpus
    if not many or not _collapses(log):
        return Cleared("no collapse of the rate beside a small quota") if log.decode else None
    idle = not gpus or all((one.util_pct or 0) < IDLE_ENOUGH_PCT for one in gpus.samples)
    bites = bool(machine.throttled_delta or machine.throttled_periods)
    if not (idle and bites):
        raise Undecided(
            "the rate collapses at times in a small quota; whether grammars do it is not told",
            settle="cpu.stat before and after one burst of new JSON schemas, with ITL",
            suspicion=0.3,
        )
    return Finding(
        statement=(
            f"The process sees {machine.cpus} cores and may use {machine.quota_cpus:g}: pools sized"
            " by the host (grammar compilation) starve the decode thread in bursts."
        ),
        confidence=0.75 if machine.throttled_delta else 0.65,
        slows=frozenset(("tail", "decode", "ttft", "throughput")),
        quotes=(
            f"quota {machine.quota_cpus:g} of {machine.cpus} cores, throttled"
            f" {machine.throttled_periods} of {machine.periods} periods",
        ),
    )


RULES = (quota_used_up, grammar_pool_starves_the_engine)
