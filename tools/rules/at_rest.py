"""A server without requests whose scheduler still takes a core."""

from __future__ import annotations

from tools.engine import Metrics
from tools.linux.machine import Process, Processes
from tools.nvidia.gpus import Gpus
from tools.rule import Finding, Outcome, rule

SPIN_CPU_PCT = (80.0, 120.0)  # of one core; many cores are work and not polling
IDLE_UTIL_PCT = 5.0
_RUNNING = ("num_running_reqs", "num_requests_running")  # SGLang, vLLM
_WAITING = ("num_queue_reqs", "num_requests_waiting")
_SCHEDULERS = ("sglang::sched", "vllm::engine", "vllm::worker", "enginecore")


@rule(cause="idle_busy_poll")
def scheduler_polls_at_rest(metrics: Metrics, processes: Processes, gpus: Gpus | None) -> Outcome:
    """Without a request a scheduler keeps one core busy, because it polls."""
    spinning = [row for row in processes.rows if _spins(row)]
    counts = [_gauge(metrics, names) for names in (_RUNNING, _WAITING)]
    used = [s.util_pct for s in gpus.samples if s.util_pct is not None] if gpus else []
    if not spinning or counts != [0.0, 0.0] or any(pct > IDLE_UTIL_PCT for pct in used):
        return None
    return Finding(
        f"Nothing runs and nothing waits, and {spinning[0].name} takes {spinning[0].cpu_pct:.0f} % of a"
        " core: it polls its sockets without a pause, so that a request starts at once. That takes"
        " nothing from requests.",
        confidence=0.92 if used else 0.8,
        benign=True,
        remedy=(
            "--sleep-on-idle (SGLang since 0.4.8) gives the core back while nothing is asked.",
        ),
        quotes=tuple(f"{row.name} ({row.pid}) {row.cpu_pct:.0f} % CPU" for row in spinning[:2]),
    )


def _gauge(metrics: Metrics, names: tuple[str, ...]) -> float | None:
    return next((metrics.gauges[name] for name in names if name in metrics.gauges), None)


def _spins(row: Process) -> bool:
    named = f"{row.name or ''} {row.command or ''}".lower()
    low, high = SPIN_CPU_PCT
    return any(word in named for word in _SCHEDULERS) and low <= (row.cpu_pct or 0.0) <= high


RULES = (scheduler_polls_at_rest,)
