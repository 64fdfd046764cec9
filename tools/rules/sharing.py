"""Who else is on the GPUs: neighbours, unequal cards, and a server that only waits busily."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from tools.engine import Environment, Launch, ServerLog
from tools.errors import Undecided
from tools.linux.machine import Process, Processes
from tools.nvidia.gpu_ranks import doubled
from tools.nvidia.gpus import GpuProcess, Gpus
from tools.rule import Cleared, Effect, Finding, Outcome, rule

BIG_MIB = 500.0  # a desktop holds less; an engine or a training job more
POLL_UTIL_PCT = 90.0
POLL_POWER = 0.5  # a GPU that computes at such utilisation draws more of its limit
QUIET_S = 60.0  # without a request; longer than the gap between two lines of a busy log
SPIN_CPU_PCT = 80.0  # of one core
EQUAL_MIB = 0.9  # SGLang 0.3 model_runner.py: least free memory against 0.9 of this card's
_MUCH_USED_MIB = 1024.0

_SERVERS = ("sglang", "vllm", "launch_server", "api_server", "EngineCore", "triton_python")
_DESKTOP = ("Xorg", "gnome-shell", "Xwayland", "kwin", "plasmashell")
_UNBALANCED = "memory capacity is unbalanced"


def _ours(processes: Processes | None, launch: Launch | None) -> frozenset[int]:
    """Return the pids of the server's tree: by the launch, or by the names of engines."""
    rows = processes.rows if processes else ()
    roots = {launch.pid} if launch and launch.pid else set()
    roots |= {row.pid for row in rows if _is_engine(row.command) or _is_engine(row.name)}
    tree = {pid for pid in roots if pid}
    for _ in range(8):  # deeper trees than engines have
        tree |= {row.pid for row in rows if row.ppid in tree}
    return frozenset(tree)


def _is_engine(name: str | None) -> bool:
    return bool(name) and any(word.lower() in (name or "").lower() for word in _SERVERS)


def _counts(process: GpuProcess) -> bool:
    desktop = any(word in (process.name or "") for word in _DESKTOP)
    return not desktop and (process.used_mib is None or process.used_mib >= BIG_MIB)


@rule(cause="gpu_shared")
def somebody_else_on_the_gpu(
    gpus: Gpus, processes: Processes | None, launch: Launch | None, log: ServerLog | None
) -> Outcome:
    """Another program shares a GPU with the server."""
    holders = [one for one in gpus.processes or () if _counts(one)]
    if not holders:
        return _by_memory(gpus)
    known = _ours(processes, launch) | {one.pid for one in holders if _is_engine(one.name)}
    foreign = [one for one in holders if one.pid not in known]
    if not foreign:
        return None if doubled(gpus) else Cleared("only the server's own processes hold the GPUs")
    if len(foreign) == len(holders):
        return _unassigned(holders)
    used = {one.gpu for one in holders if one.pid in known}
    shared = [one for one in foreign if one.gpu in used]
    if not shared:
        return Cleared("the other processes are on GPUs that the server does not use")
    one = shared[0]
    where = "" if one.gpu is None else f"GPU {one.gpu}: "
    quote = f"{where}pid {one.pid} {one.name or ''} holds {one.used_mib or 0:.0f} MiB"
    works = any((sample.util_pct or 0) > POLL_UTIL_PCT for sample in gpus.samples)
    return _shared(quote, 0.85 if works and _idle(log) else 0.65)


def _shared(quote: str, confidence: float) -> Finding:
    return Finding(
        statement=f"Another program is on the server's GPU: {quote}.",
        confidence=confidence,
        slows=frozenset(("decode", "prefill", "throughput", "ttft", "tail")),
        effect=Effect((-50.0, -18.0, -5.0), (-50.0, -20.0, -5.0), "an estimate: 20 % taken"),
        quotes=(quote,),
    )


def _unassigned(holders: list[GpuProcess]) -> Outcome:
    """Judge holders of which none is known to be the server: one for each GPU is no sharing."""
    per_gpu: dict[int | None, set[int]] = {}
    for one in holders:
        per_gpu.setdefault(one.gpu, set()).add(one.pid)
    if all(len(pids) == 1 for pids in per_gpu.values()):
        return Cleared("one process on each GPU")
    raise Undecided(
        "several processes hold one GPU; which are the server's is not told",
        settle="ps -o pid,ppid,cmd of those pids; nvidia-smi pmon -c 3",
        suspicion=0.25,
    )


def _by_memory(gpus: Gpus) -> Outcome:
    """Judge without a table of processes, which containers leave empty."""
    used = [one.mem_used_mib for one in gpus.samples if one.mem_used_mib is not None]
    if used and max(used) < BIG_MIB:
        return Cleared("nobody holds memory of the GPUs")
    raise Undecided(
        "the table of processes was not seen",
        settle="on the host, not in the container: nvidia-smi pmon -c 3",
        suspicion=0.05,
    )


@rule(cause="mixed_gpu_memory")
def cards_of_unequal_size(gpus: Gpus, log: ServerLog | None) -> Outcome:
    """The cards of one group have unequal memory, and the start is refused."""
    sizes = {gpu: group[-1].mem_total_mib for gpu, group in gpus.by_gpu().items()}
    told = {gpu: size for gpu, size in sizes.items() if size}
    said = [one.text for one in log.notices if _UNBALANCED in one.text] if log else []
    if len(told) < 2:
        if said:
            raise Undecided("memory of each GPU is not told", settle="nvidia-smi", suspicion=0.3)
        return Cleared("one GPU") if told else None
    if min(told.values()) >= EQUAL_MIB * max(told.values()):
        return Cleared("the cards have equal memory")
    used = max((one.mem_used_mib or 0.0 for one in gpus.samples), default=0.0)
    quotes = tuple(f"GPU {gpu}: {size:.0f} MiB" for gpu, size in told.items())
    if not said:
        if log and log.started:
            return Cleared("the cards differ, yet the server started")
        raise Undecided("the cards differ; no refusal was seen", suspicion=0.1)
    if used > _MUCH_USED_MIB:
        raise Undecided(
            f"the cards differ, and {used:.0f} MiB are in use as well",
            settle="nvidia-smi after all servers ended: is the memory free?",
            suspicion=0.35,
        )
    return Finding(
        statement=f"The cards have unequal memory ({', '.join(quotes)}), and nobody else is on them.",
        confidence=0.92,
        slows=frozenset(("start", "crash")),
        quotes=(said[-1][:200], *quotes),
    )


def _at(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None


def _idle(log: ServerLog | None) -> bool | None:
    """Say whether the log shows that nobody asked anything for a while; None if it cannot tell."""
    if log is None or log.started is False or log.said("crash", "watchdog", "start_failed", "oom"):
        return None
    if log.decode and (log.decode[-1].running == 0 or log.decode[-1].tok_s == 0):
        return True
    moments = [one.at for one in log.decode if one.at] + [one.at for one in log.prefill if one.at]
    last = max(moments, default=None)
    begin, end = _at(last or log.first_line_at), _at(log.last_line_at)
    if begin and end and begin.tzinfo == end.tzinfo:
        return (end - begin).total_seconds() > QUIET_S
    return None


@rule(cause="idle_busy_poll")
def server_waits_busily(
    log: ServerLog, gpus: Gpus | None, processes: Processes | None, launch: Launch | None
) -> Outcome:
    """GPUs or cores look busy because an idle server polls."""
    spinning = [row for row in processes.rows if _spins(row)] if processes else []
    hot = _polling(gpus) if gpus else {}
    if not spinning and not hot:
        return None
    if not _idle(log):
        if _idle(log) is None:
            raise Undecided(
                "whether requests came is not told",
                settle="the same look while the log shows no request for a minute",
                suspicion=0.15,
            )
        return Cleared("requests are running")
    ours = _ours(processes, launch)
    holders = gpus.processes if gpus and gpus.processes else ()
    foreign = [
        one for one in holders if _counts(one) and not (one.pid in ours or _is_engine(one.name))
    ]
    if hot and foreign and ours:
        return None  # somebody else may be at work: somebody_else_on_the_gpu
    quotes = [f"{row.name} ({row.pid}) {row.cpu_pct:.0f} % CPU, no request" for row in spinning[:4]]
    quotes += [f"GPU {gpu}: {words}, no request" for gpu, words in hot.items()]
    return Finding(
        statement=(
            "The server waits busily: "
            + (
                "its schedulers poll"
                if spinning
                else "its workers wait inside a collective or poll"
            )
            + ", which looks like work and takes nothing from requests."
        ),
        confidence=0.92 if (ours or spinning) else 0.7,
        benign=True,
        quotes=tuple(quotes),
    )


def _spins(row: Process) -> bool:
    """Say whether an engine's process burns one core; many cores are work, not polling."""
    engine = _is_engine(row.name) or "sched" in (row.name or "").lower()
    return engine and row.cpu_pct is not None and SPIN_CPU_PCT <= row.cpu_pct <= 120


def _polling(gpus: Gpus) -> Mapping[str, str]:
    """Return the GPUs that are fully used and draw little."""
    found = {}
    for gpu, group in gpus.by_gpu().items():
        last = group[-1]
        if (last.util_pct or 0) < POLL_UTIL_PCT or not (last.power_w and last.power_limit_w):
            continue
        if last.power_w < POLL_POWER * last.power_limit_w:
            found[gpu] = (
                f"{last.util_pct:.0f} % at {last.power_w:.0f} of {last.power_limit_w:.0f} W"
            )
    return found


@rule(cause="mps_limits")
def share_of_threads_limited(environment: Environment) -> Outcome:
    """MPS gives the server only a share of the GPU's threads."""
    text = environment.values.get("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "")
    share = float(text) if text.replace(".", "", 1).isdecimal() else 100.0
    if share >= 100:
        return Cleared("no limit of MPS is set")
    return Finding(
        statement=f"MPS gives the server {share:.0f} % of the GPU's threads.",
        confidence=0.85,
        slows=frozenset(("prefill", "decode", "throughput", "ttft")),
        effect=Effect(
            (share - 100, (share - 100) / 2, 0.0), (share - 100, share - 100, 0.0), "an estimate"
        ),
        quotes=(f"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE={text}",),
    )


RULES = (
    somebody_else_on_the_gpu,
    cards_of_unequal_size,
    server_waits_busily,
    share_of_threads_limited,
)
