"""Of a machine, what few looks tell: said only where that is what was read."""

from __future__ import annotations

from collections.abc import Iterator

from tools.linux.machine import Machine


def rarely_told(facts: Machine) -> Iterator[str]:
    """Yield short phrases: memory, modules, nodes, ports, mounts, limits of processes."""
    if facts.oom_killed:
        yield "ended for want of memory"
    if facts.mem_available_mib and facts.mem_total_mib:
        yield f"{facts.mem_available_mib / 1024:.0f} of {facts.mem_total_mib / 1024:.0f} GiB available"
    if facts.mem_limit_mib:
        yield f"memory limit {facts.mem_limit_mib / 1024:.0f} GiB"
    if facts.cpus_allowed:
        yield f"allowed on CPUs {facts.cpus_allowed[:40]}"
    if facts.idle_pct is not None:
        yield f"{facts.idle_pct:.0f} % idle"
    if facts.dimms:
        yield f"{facts.dimms} of {facts.dimm_slots} memory slots fitted"
    yield from _more(facts)


def _more(facts: Machine) -> Iterator[str]:
    if facts.numa_mib:
        yield ", ".join(f"node {node} {mib / 1024:.0f} GiB" for node, mib in facts.numa_mib.items())
    if facts.numa_far_pct is not None:
        yield f"{facts.numa_far_pct:g} % of pages to the other node"
    if facts.rdma:
        up = sum(1 for port in facts.rdma if port.state == "Active")
        yield f"{up} of {len(facts.rdma)} RDMA ports up"
    if facts.full_pct:
        path = max(facts.full_pct, key=facts.full_pct.__getitem__)
        yield f"{path} {facts.full_pct[path]:.0f} % full"
    if facts.mounts:
        yield f"{len(facts.mounts)} mounts"
    if facts.ulimits:
        yield f"limits of processes: {', '.join(list(facts.ulimits)[:3])}"
