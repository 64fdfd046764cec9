"""Huge pages, which count where weights or caches are read from the host's memory."""

from __future__ import annotations

from tools.engine import Arguments, Launch, ServerInfo, ServerLog
from tools.errors import Undecided
from tools.linux.machine import Machine, Process, Processes
from tools.rule import Cleared, Outcome, rule

LARGE_MIB = 32 * 1024  # of one process: weights or a cache, not an engine's own memory
FEW = 0.1  # of that memory in huge pages
_OFFLOADS = ("cpu_offload_gb", "enable_hierarchical_cache", "hicache_size", "kv_offloading_size")


@rule(cause="hugepages_thp")
def small_pages_under_weights(
    machine: Machine,
    processes: Processes | None,
    launch: Launch | None,
    log: ServerLog | None,
    info: ServerInfo | None,
) -> Outcome:
    """Weights or caches in host memory lie in small pages."""
    if machine.thp is None:
        return None
    if machine.thp == "always":
        return Cleared("transparent huge pages are on for all memory")
    large = max(processes.rows if processes else (), key=_held, default=None)
    held = _held(large) if large else 0.0
    args = Arguments(launch, info, log)
    offloads = [name for name in _OFFLOADS if args.value(name)]
    if held < LARGE_MIB and not offloads:
        return Cleared("nothing large is read from the host's memory")
    if machine.huge_mib is not None and machine.huge_mib >= FEW * max(held, LARGE_MIB):
        return Cleared(f"{machine.huge_mib / 1024:.0f} GiB lie in huge pages already")
    who = (
        f"{large.name or large.pid} holds {held / 1024:.0f} GiB"
        if large and held >= LARGE_MIB
        else f"{offloads[0]} is set"
    )
    raise Undecided(
        f"{who}, and transparent huge pages are set to {machine.thp}: weights and caches in host memory are"
        " read through small pages; what that costs was not measured",
        settle="echo always > /sys/kernel/mm/transparent_hugepage/enabled, start anew, and compare decode and"
        " AnonHugePages",
        suspicion=0.45 if held >= LARGE_MIB and machine.thp == "never" else 0.2,
    )


def _held(row: Process) -> float:
    return row.rss_mib or 0.0


RULES = (small_pages_under_weights,)
