"""Servers that stand still, as their processes and pages show it; what the log says is in start.py."""

from __future__ import annotations

from tools.engine import Launch, Metrics, ServerInfo
from tools.errors import Undecided
from tools.linux.machine import Processes
from tools.rule import Aspect, Cleared, Finding, Outcome, rule

STOPPED = ("T", "t")  # proc(5): by a signal, by a tracer
SLOWS: frozenset[Aspect] = frozenset({"crash", "decode", "prefill", "ttft", "throughput", "tail"})
_KEYS = ("api_key", "admin_api_key")
_HEALTH = "curl -m 30 -o /dev/null -w '%{http_code}' http://127.0.0.1:PORT/health: 503 if it hangs"


@rule(cause="server_hung")
def process_is_stopped(processes: Processes) -> Outcome:
    """A process of the server is stopped, by a signal or by a debugger."""
    held = [row for row in processes.rows if row.server and row.state in STOPPED]
    if not held and all(row.state is None for row in processes.rows):
        raise Undecided("the state of no process is told", settle="top -b -n 1", suspicion=0.02)
    if not held:
        return Cleared("no process of the server is stopped", (processes,))
    names = ", ".join(f"{row.name or 'process'} ({row.pid})" for row in held)
    return Finding(
        f"{names} is stopped: it was sent SIGSTOP, or a debugger holds it, and nothing is served.",
        shown_by=(processes,),
        confidence=0.95,
        slows=SLOWS,
        category="config",
        remedy=(
            "kill -CONT PID, or detach the debugger (py-spy dump, gdb) that holds it.",
            "Restart if requests that were running meanwhile do not come back.",
        ),
        risk="none",
        verify="the state of the process in top is S or R, and a request is answered",
        quotes=tuple(f"{row.name} pid {row.pid} state {row.state}" for row in held),
    )


@rule(cause="server_hung")
def schedulers_do_not_answer(launch: Launch, metrics: Metrics, info: ServerInfo | None) -> Outcome:
    """The schedulers are silent while the server's other pages answer."""
    made = metrics.deltas.get("generation_tokens_total", 0.0)
    if made > 0:
        return Cleared(f"{made:.0f} tokens were made {metrics.when}", (metrics,))
    if info is not None:
        return Cleared("the schedulers answered /server_info", (info,))
    asked = launch.engine == "sglang" and not _keyed(launch)
    raise Undecided(
        "/metrics answers, and no answer of /server_info, which a scheduler gives, was seen"
        if asked
        else "nothing was made meanwhile, and the schedulers could not be asked",
        settle=_HEALTH,
        suspicion=0.45 if asked else 0.02,
    )


def _keyed(launch: Launch) -> bool:
    return any(name in (launch.flags or {}) for name in _KEYS)


RULES = (process_is_stopped, schedulers_do_not_answer)
