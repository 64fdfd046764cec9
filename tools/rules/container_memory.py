"""The memory limit of the server's container: what it killed, and how near it is."""

from __future__ import annotations

from tools.errors import Undecided
from tools.linux.machine import Machine
from tools.rule import Cleared, Finding, Outcome, rule

NEAR = 0.97  # of the limit; the page cache fills the rest of it in the end, and gives way


@rule(cause="memory_pressure_swap")
def limit_killed_the_server(machine: Machine) -> Outcome:
    """The memory limit of its container, or of its unit, ended the server."""
    if machine.oom_killed:
        limit = machine.mem_limit_mib
        size = f" of {limit / 1024:.0f} GiB" if limit else ""
        return Finding(
            statement=f"The server's container or unit was ended because its memory limit{size} was used up"
            " (OOM killed).",
            confidence=0.9,
            slows=frozenset(("crash",)),
            category="config",
            remedy=(
                "Raise the limit (docker --memory, Kubernetes limits.memory, systemd MemoryMax), or drop it.",
                "If memory grows from hour to hour: look for what fills it (host KV cache,"
                " --hicache-size, images, files in /dev/shm, which count too).",
            ),
            risk="the container or unit starts anew",
            verify="memory.events (oom_kill) of the control group stays the same for a day",
            quotes=("OOMKilled",),
        )
    if machine.group_oom_kills:
        raise Undecided(
            f"the memory limit killed {machine.group_oom_kills} process(es) of the group since it began;"
            " which, is not told",
            settle="the lines around 'Killed process' in the kernel log",
            suspicion=0.3,
        )
    used, limit = machine.mem_current_mib, machine.mem_limit_mib
    if used and limit and used >= NEAR * limit:
        raise Undecided(
            f"{used / 1024:.1f} of {limit / 1024:.1f} GiB of the limit are used; how much of it is page"
            " cache, which gives way, is not told",
            settle="grep -E '^(anon|file|shmem) ' memory.stat of the control group",
            suspicion=0.15,
        )
    return Cleared("no memory limit killed anything") if machine.group_oom_kills == 0 else None


RULES = (limit_killed_the_server,)
