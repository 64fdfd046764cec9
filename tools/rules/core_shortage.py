"""Too few cores for the server: time spent ready and waiting for one, and how many it may use."""

from __future__ import annotations

import re

from tools.engine import Launch, ServerInfo, ServerLog
from tools.engine.parallel import tp_size
from tools.errors import Undecided
from tools.linux.machine import Machine, Process, Processes
from tools.rule import Cleared, Effect, Finding, Outcome, rule

WAITS_PCT = 10.0  # of the time ready without a core; a free machine shows 0 to 2
CORES_A_RANK = 2  # one spins for the GPU, one launches and receives
CORES_BESIDE = 2  # tokenizer and detokenizer

FULL = 0.9  # of the cores that the engine may use

_SERVERS = ("sglang", "vllm", "engine", "scheduler", "detoken", "ray::")
_RANGE = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?")


@rule(cause="cpu_contention")
def engine_waits_for_a_core(processes: Processes, machine: Machine | None) -> Outcome:
    """The engine's processes are ready to run and wait for a core."""
    rows = [row for row in processes.rows if row.wait_pct is not None and _of_the_engine(row)]
    if not rows:
        return None
    worst = max(rows, key=lambda row: row.wait_pct or 0.0)
    said = f"{worst.name} waits for a core {worst.wait_pct:.0f} % of the time"
    if (worst.wait_pct or 0.0) < WAITS_PCT:
        return Cleared(said, (processes,))
    if machine and machine.quota_cpus is not None:
        raise Undecided(
            f"{said}: for other processes, or for the next period of its quota of"
            f" {machine.quota_cpus:g} cores",
            settle="cpu.stat twice, a load between: nr_throttled",
            suspicion=0.4,
        )
    others = [
        row for row in processes.rows if not _of_the_engine(row) and (row.cpu_pct or 0) >= 100
    ]
    hungry = max(others, key=lambda row: row.cpu_pct or 0.0, default=None)
    by = (
        f" {hungry.name} takes {(hungry.cpu_pct or 0) / 100:.0f} cores meanwhile." if hungry else ""
    )
    return Finding(
        statement=f"{said}: the cores are fought for.{by}",
        confidence=0.8 if hungry else 0.7,
        slows=frozenset(("decode", "tail", "ttft", "throughput")),
        effect=Effect(
            (-30.0, -15.0, -3.0), (-5.0, -2.0, 0.0), "an estimate: the time without a core"
        ),
        quotes=(f"{worst.name} %wait {worst.wait_pct:g}",),
    )


@rule(cause="cpu_contention")
def few_cores_are_allowed(
    machine: Machine, launch: Launch | None, log: ServerLog | None, info: ServerInfo | None
) -> Outcome:
    """The server may use fewer cores than its processes need."""
    listed = machine.cpus_allowed or (launch.cpus_allowed if launch else None)
    cores = count_cores(listed or "")
    if not cores:
        return None
    ranks = tp_size(launch, log, info) or 1
    wanted = CORES_A_RANK * ranks + CORES_BESIDE
    if cores >= wanted:
        return Cleared(f"{cores} cores are allowed, for {ranks} rank(s)")
    raise Undecided(
        f"only {cores} core(s) are allowed ({listed}); {ranks} rank(s), tokenizer and detokenizer can use"
        f" {wanted}",
        settle="pidstat -t -p PID 5 1 under load: %wait of the schedulers",
        suspicion=0.35,
    )


@rule(cause="cpu_contention")
def allowed_cores_are_full(machine: Machine, processes: Processes) -> Outcome:
    """More processes of the engine than it may use cores, and those cores are full."""
    listed = machine.cpus_allowed or ""
    cores = count_cores(listed)
    rows = [row for row in processes.rows if _of_the_engine(row) and row.cpu_pct]
    if not cores or len(rows) <= cores:
        return None
    used = sum(row.cpu_pct or 0.0 for row in rows) / 100
    if used > cores / FULL:
        return Cleared("the engine uses more cores than that list holds: it is another process's")
    if used < cores * FULL:
        return Cleared(f"of {cores} allowed cores the engine uses {used:.1f}")
    beside = f" of {machine.cpus}" if machine.cpus else ""
    return Finding(
        statement=(
            f"{len(rows)} processes of the engine may use {cores}{beside} core(s) only ({listed}), and"
            f" fill them: {used:.1f} cores in all."
        ),
        confidence=0.85,
        category="config",
        slows=frozenset(("decode", "prefill", "tail", "ttft", "throughput")),
        effect=Effect(
            (-70.0, -40.0, -10.0), (-50.0, -20.0, -3.0), "an estimate, not measured here"
        ),
        remedy=(
            "Start the server without that pinning (taskset, cpuset, the scheduler of the cluster), or"
            " give each of its processes a core of its own: taskset -cp CORE PID.",
        ),
        verify="the same load: the engine's processes use more than these cores, and GPU use rises",
        quotes=(f"allowed: {listed}", f"{used:.1f} cores used by {len(rows)} processes"),
    )


def count_cores(listed: str) -> int:
    """Return how many cores a list such as "0-15,32" names; 0 for what is none."""
    if not re.fullmatch(r"[\d,\- ]+", listed):
        return 0
    spans = [(int(first), int(last or first)) for first, last in _RANGE.findall(listed)]
    return sum(max(0, last - first + 1) for first, last in spans)


def _of_the_engine(row: Process) -> bool:
    named = f"{row.name or ''} {row.command or ''}".lower()
    return any(word in named for word in _SERVERS)


RULES = (engine_waits_for_a_core, few_cores_are_allowed, allowed_cores_are_full)
