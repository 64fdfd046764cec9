"""Host memory: pressure, killed servers, a shared memory that is too small."""

from __future__ import annotations

from tools.engine import Launch, ServerInfo, ServerLog
from tools.engine.parallel import tp_size
from tools.errors import Undecided
from tools.linux.kernel import KernelLog
from tools.linux.machine import Machine
from tools.nvidia.nccl import NcclLog
from tools.rule import Cleared, Finding, Outcome, rule

PRESSURE_PCT = 5.0  # PSI some avg10, catalogue
DOCKER_SHM_MIB = 64.5  # docker's default is 64 MiB
SWAPPED_PAGES = 256  # of 4 KiB in a second; below a MiB old pages come back one by one

_SERVERS = ("sglang", "vllm", "python", "ray::")  # as the kernel names them, 15 characters
_SHM_WORDS = ("/dev/shm", "shared memory segment")  # noqa: S108 - words of a log


@rule(cause="memory_pressure_swap")
def kernel_killed_the_server(kernel: KernelLog) -> Outcome:
    """The kernel kills the server for want of host memory."""
    killed = [v for v in kernel.oom_victims if any(w in v.lower() for w in _SERVERS)]
    if killed:
        return Finding(
            statement=f"The kernel's out-of-memory killer ended {killed[-1]}, a process of the"
            " server: the host, or the memory limit of its container, was used up.",
            confidence=0.9,
            slows=frozenset(("crash",)),
            category="config",
            remedy=(
                "Raise the container's memory limit (docker --memory, Kubernetes limits.memory),"
                " or drop it.",
                "If memory grows from hour to hour: look for what fills it (host KV cache,"
                " --hicache-size, images, the page cache of /dev/shm).",
            ),
            verify="memory.events (oom_kill) of the control group stays the same for a day",
            quotes=tuple(f"oom-killer: Killed process ({name})" for name in killed[-2:]),
        )
    if kernel.oom_kills:
        raise Undecided(
            f"the kernel killed {kernel.oom_kills} process(es) for want of memory, none known as"
            " the server's",
            settle="the lines around 'Killed process' in the kernel log; free -h over a day",
            suspicion=0.3,
        )
    return Cleared("the kernel killed nothing for want of memory", (kernel,))


@rule(cause="memory_pressure_swap")
def memory_runs_short(machine: Machine, kernel: KernelLog | None) -> Outcome:
    """The host's memory runs short, and pages are swapped while serving."""
    moved, pressure = machine.swapping_pages or 0, machine.mem_pressure_pct or 0
    if moved >= SWAPPED_PAGES or pressure > PRESSURE_PCT:
        words = [f"{moved * 4 / 1024:.1f} MiB swapped in a second"] if moved else []
        words += [f"tasks wait for memory {pressure:.0f} % of the time"] if pressure else []
        free, all_of_it = machine.mem_available_mib, machine.mem_total_mib
        if free is not None and all_of_it:
            words += [f"{free / 1024:.1f} of {all_of_it / 1024:.0f} GiB available"]
        return Finding(
            statement=f"The host's memory runs short: {', '.join(words)}.",
            remedy=(
                "Find what fills the memory (ps aux --sort=-rss | head) and move or limit it; give the"
                " container more if it is the server itself.",
                "Smaller host caches of the engine (--hicache-size, --cpu-offload-gb) help too.",
            ),
            verify="vmstat 1: si and so stay 0 under load",
            confidence=0.8,
            slows=frozenset(("tail", "ttft", "throughput")),
            quotes=tuple(words),
        )
    if kernel and kernel.oom_kills:
        return Finding(
            statement=f"The kernel killed {kernel.oom_kills} processes for want of memory.",
            confidence=0.7,
            slows=frozenset(("crash",)),
            quotes=(f"{kernel.oom_kills} OOM kills",),
        )
    if machine.swapping_pages is None and machine.mem_pressure_pct is None:
        raise Undecided(
            "neither swapping nor pressure was measured",
            settle="vmstat 1 5 (si, so) and /proc/pressure/memory, under load",
            suspicion=0.1 if (machine.swap_used_mib or 0) > 1024 else 0.02,
        )
    if moved:
        return Cleared(f"{moved * 4} KiB swapped in a second are next to nothing")
    return Cleared("no pages are swapped and memory is under no pressure")


def _words_of_shm(log: ServerLog | None) -> str:
    """Return what the log says of a shared memory that could not be had."""
    for notice in log.notices if log else ():
        text = notice.text.lower()
        full = notice.kind == "nccl_error" and "no space left on device" in text
        if notice.kind != "benign" and (full or any(word in text for word in _SHM_WORDS)):
            return notice.text[:200]
    return ""


@rule(cause="shm_too_small")
def nccl_lacks_shared_memory(nccl: NcclLog, machine: Machine | None) -> Outcome:
    """NCCL gets no shared memory for its channels."""
    said = next((line for line in nccl.errors if _refuses_memory(line)), "")
    if not said:
        return None
    return _lacking(said[:200], machine)


def _refuses_memory(line: str) -> bool:
    low = line.lower()
    return "shared memory segment" in low or ("fallocate" in low and "no space left" in low)


@rule(cause="shm_too_small")
def log_lacks_shared_memory(log: ServerLog, machine: Machine | None) -> Outcome:
    """The server cannot get the shared memory it needs, and does not start."""
    said = _words_of_shm(log)
    if not said:
        return Cleared("the log complains of no shared memory") if log.lines else None
    return _lacking(said, machine)


def _lacking(said: str, machine: Machine | None) -> Finding:
    size = machine.shm_total_mib if machine else None
    small = size is not None and size <= DOCKER_SHM_MIB
    if size is not None and not small and ((machine and machine.shm_used_mib) or 0) < 0.9 * size:
        raise Undecided(
            f"the log wants shared memory, and /dev/shm has {size:.0f} MiB now",
            settle="df -h /dev/shm inside the container, at the start",
            suspicion=0.3,
        )
    return Finding(
        statement=(
            "The server gets no shared memory"
            f"{f': /dev/shm has {size:.0f} MiB' if size is not None else ''}."
        ),
        confidence=0.95 if small else 0.85,
        slows=frozenset(("start", "crash")),
        quotes=(said, *((f"size of /dev/shm: {size:.0f} MiB",) if size is not None else ())),
    )


@rule(cause="shm_too_small")
def shared_memory_is_small(
    machine: Machine, log: ServerLog | None, launch: Launch | None, info: ServerInfo | None
) -> Outcome:
    """The container's /dev/shm is too small for several ranks."""
    if machine.shm_total_mib is None:
        raise Undecided(
            "the size of /dev/shm was not read", settle="df -h /dev/shm", suspicion=0.02
        )
    if machine.shm_total_mib > DOCKER_SHM_MIB:
        return Cleared(f"the container's /dev/shm has {machine.shm_total_mib:.0f} MiB")
    if tp_size(launch, log, info) == 1:
        return Cleared("one GPU needs no shared memory between ranks")
    if _words_of_shm(log):
        return None  # log_lacks_shared_memory says it with the log's own words
    if log and log.started:
        return Cleared("the /dev/shm is small, yet the server started")
    raise Undecided(
        f"its /dev/shm has {machine.shm_total_mib:.0f} MiB; whether a start failed by it is not told",
        settle="the log of the failed start, with NCCL_DEBUG=WARN",
        suspicion=0.3,
    )


RULES = (
    kernel_killed_the_server,
    memory_runs_short,
    nccl_lacks_shared_memory,
    log_lacks_shared_memory,
    shared_memory_is_small,
)
