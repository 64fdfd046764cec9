"""Network interrupts that one core takes alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tools.linux.machine import Machine, Processes
from tools.rule import Cleared, Effect, Finding, Outcome, rule

FULL_PCT = (
    80.0  # of one core; a busy 10 Gbit/s port spread over its queues stays below a tenth of each
)
MANY = 2  # cores; more of them full are traffic, not a bad spread
FEW_CORES = 4  # with fewer, one that takes all is no wonder
_THREAD = re.compile(r"ksoftirqd/(\d{1,5})")


@rule(cause="interrupts_on_one_core")
def one_core_takes_all_packets(processes: Processes) -> Outcome:
    """One core is full with the network's interrupts while the others are free."""
    busy = {
        found[1]: row.cpu_pct
        for row in processes.rows
        if row.cpu_pct and (found := _THREAD.search(f"{row.command} {row.name}"))
    }
    if not busy:
        return None
    core = max(busy, key=lambda one: busy[one] or 0.0)
    worst = busy[core] or 0.0
    full = [one for one, pct in busy.items() if (pct or 0.0) >= FULL_PCT]
    if not full:
        return Cleared(f"interrupts take {worst:.0f} % of core {core} at most", (processes,))
    return (
        _spread(full) if len(full) > MANY else _finding(core, f"ksoftirqd/{core} at {worst:.0f} %")
    )


def _finding(core: str, shown: str) -> Finding:
    return Finding(
        statement=(
            f"Core {core} is full with interrupts ({shown}): the network's queues end on it alone, and what"
            " clients are sent waits for it."
        ),
        confidence=0.75,
        slows=frozenset({"decode", "tail", "ttft", "throughput"}),
        effect=Effect((-50.0, -20.0, -3.0), None, "an estimate: what clients see, not the engine"),
        quotes=(shown,),
    )


@rule(cause="interrupts_on_one_core")
def one_core_is_all_interrupts(machine: Machine) -> Outcome:
    """One core spends its time in soft interrupts while the others have none."""
    if len(machine.soft_pct) < FEW_CORES:
        return None
    core = max(machine.soft_pct, key=lambda one: machine.soft_pct[one])
    worst = machine.soft_pct[core]
    if worst < FULL_PCT:
        return Cleared(f"soft interrupts take {worst:.0f} % of core {core} at most", (machine,))
    full = [one for one, share in machine.soft_pct.items() if share >= FULL_PCT]
    return _spread(full) if len(full) > MANY else _finding(core, f"{worst:.0f} % soft")


def _spread(full: Sequence[str]) -> Cleared:
    return Cleared(f"interrupts fill {len(full)} cores: they are spread, the traffic is large")


RULES = (one_core_takes_all_packets, one_core_is_all_interrupts)
