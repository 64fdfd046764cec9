"""Processes around the GPU: detokenizer, tokenizer and scheduler that cannot keep up."""

from __future__ import annotations

from statistics import median

from tools.engine import Arguments, Benchmark, Launch, ServerLog, Traffic
from tools.errors import Undecided
from tools.linux.machine import Process, Processes
from tools.nvidia.gpus import Gpus
from tools.rule import Cleared, Effect, Finding, Outcome, rule

FULL_PCT = 95.0  # of one core
SLOWER = 1.5  # the client's gap between tokens against the engine's
GPU_WAITS = (20.0, 90.0)  # utilisation: neither idle nor full
STARVED = 20.0  # % at which a GPU that decodes waits most of the time: nothing is resident then
COOL = 0.5  # of the power limit, at which a busy GPU waits for somebody
_PARTS = ("detoken",)
_SERVERS = ("sglang", "vllm", "python", "engine", "launch_server")


@rule(cause="detokenizer_saturated")
def detokenizer_full(
    processes: Processes, log: ServerLog | None, benchmark: Benchmark | None
) -> Outcome:
    """The process that turns tokens into text is full, so clients get them late."""
    full = [p for p in processes.rows if _is(p, _PARTS) and (p.cpu_pct or 0) >= FULL_PCT]
    if not full:
        _need_loads(processes)
        return Cleared("no detokenizer process is at a full core", (processes,))
    engine = _engine_itl_ms(log)
    client = benchmark.itl_median_ms if benchmark else None
    if engine and client and client < SLOWER * engine:
        return Cleared(f"clients see {client:.0f} ms between tokens, the engine {engine:.0f}")
    slow = [n.text for n in log.said("slow_tokenizer")] if log else []
    each = f" The engine makes a token for each request every {engine:.0f} ms." if engine else ""
    why = " The log warns of a slow tokenizer." if slow else ""
    return Finding(
        f"{full[0].name} is at {full[0].cpu_pct:.0f} % of one core, which is all it can"
        f" use.{each}{why} Gaps that clients see beyond that are text handling, not the GPU.",
        confidence=0.9 if slow or client else 0.8,
        slows=frozenset({"decode", "tail", "throughput"}),
        effect=Effect(
            decode_pct=(-80.0, -50.0, -20.0), source="SGLang 23393: gaps x2 to x5 at 1024"
        ),
        category="config",
        remedy=(
            "A fast tokenizer for this model; --skip-tokenizer-init if the client can detokenize.",
            "--stream-interval 4; from 0.5.12 on --detokenizer-worker-num 2.",
        ),
        verify="the client's gap equals #running-req / gen throughput",
        quotes=(f"{full[0].name} {full[0].cpu_pct:.1f} % CPU", *slow[:1]),
    )


@rule(cause="detokenizer_saturated")
def tokenizer_is_slow(log: ServerLog, processes: Processes | None) -> Outcome:
    """The tokenizer in use is the slow one, written in Python."""
    said = [notice.text for notice in log.said("slow_tokenizer")]
    if not said:
        return Cleared("no line warns of a slow tokenizer", (log,))
    if processes and any(_is(p, _PARTS) for p in processes.rows):
        return Cleared("the detokenizer's load was seen, and is judged apart", (processes,))
    raise Undecided(
        "the log warns of a slow tokenizer; the load of its processes was not seen",
        settle="top -H -p on sglang::detokenizer under load",
        suspicion=0.3,
    )


@rule(cause="host_pipeline_bound")
def host_cannot_feed_the_gpu(
    processes: Processes, gpus: Gpus, log: ServerLog | None, launch: Launch | None
) -> Outcome:
    """The GPU waits while the engine's own processes are at full load."""
    busy = [p for p in processes.rows if _is(p, _SERVERS) and (p.cpu_pct or 0) >= FULL_PCT]
    told = [s.util_pct for s in gpus.samples if s.util_pct is not None]
    if not busy or not told:
        _need_loads(processes)
        return Cleared("no process of the engine is at a full core", (processes,))
    if log and not log.decode and not log.prefill and log.started:
        return Cleared("no request came in: an idle scheduler spins on one core", (log,))
    used = median(told)
    if 0 < (most := _busiest_pct(gpus)) < STARVED and log and Traffic(log).decode:
        return _starved(busy, most, gpus, processes, log)
    if not GPU_WAITS[0] <= used <= GPU_WAITS[1]:
        return Cleared(f"the GPUs are at {used:.0f} %", (gpus,))
    watts = [s.power_w / s.power_limit_w for s in gpus.samples if s.power_w and s.power_limit_w]
    if watts and median(watts) > COOL:
        return Cleared(f"the GPUs draw {median(watts):.0%} of their limit", (gpus,))
    args = Arguments(launch, None, log)
    logs = " --log-requests is on, which costs CPU." if args.on("log_requests") else ""
    raise Undecided(
        f"{busy[0].name} uses {busy[0].cpu_pct:.0f} % of a core and the GPU is at {used:.0f} %;"
        f" but utilisation counts any resident kernel.{logs}",
        settle="halve the GPU clock once (nvidia-smi -lgc) and give the server two cores once"
        " (taskset): the one that hurts is the bottleneck",
        suspicion=0.5,
    )


def _busiest_pct(gpus: Gpus) -> float:
    """Return the median utilisation of the GPU that is used most; others may belong to nobody."""
    told = (
        [s.util_pct for s in group if s.util_pct is not None] for group in gpus.by_gpu().values()
    )
    return max((median(one) for one in told if one), default=0.0)


def _starved(
    busy: list[Process], used: float, gpus: Gpus, processes: Processes, log: ServerLog
) -> Finding:
    """Tell of a GPU that is idle between steps although requests are decoded."""
    running = Traffic(log).usual_running
    return Finding(
        f"{busy[0].name} is at {busy[0].cpu_pct:.0f} % of a core and no GPU is above {used:.0f} %, while"
        f" {running} request(s) are decoded: the GPU waits for what the CPU does in each step (masks of"
        " a grammar, sampling in Python, logging, copies).",
        shown_by=(processes, gpus, log),
        confidence=0.7,
        slows=frozenset({"decode", "throughput", "tail"}),
        effect=Effect(decode_pct=(-95.0, -70.0, -30.0), source="the share of time the GPU is idle"),
        remedy=(
            "py-spy dump of the scheduler under load says what it does in a step.",
            "With a grammar: json_schema or a simpler grammar, another --grammar-backend.",
        ),
        verify="GPU utilisation above 90 % at the same load",
        quotes=(f"{busy[0].name} {busy[0].cpu_pct:.1f} % CPU", f"GPU utilisation {used:.0f} %"),
    )


def _need_loads(processes: Processes) -> None:
    """Raise Undecided where no look tells a process' load: stacks, or numastat."""
    if all(row.cpu_pct is None for row in processes.rows):
        raise Undecided("the load of no process is told", settle="top -b -H -n 2", suspicion=0.02)


def _is(process: Process, words: tuple[str, ...]) -> bool:
    named = f"{process.name or ''} {process.command or ''}".lower()
    return any(word in named for word in words)


def _engine_itl_ms(log: ServerLog | None) -> float | None:
    """Return the gap between two tokens of one request as the engine makes them, ms."""
    lines = [n for n in Traffic(log).steady if n.tok_s and n.running] if log else []
    return median((n.running or 0) / (n.tok_s or 1) * 1e3 for n in lines) if lines else None


RULES = (detokenizer_full, tokenizer_is_slow, host_cannot_feed_the_gpu)
