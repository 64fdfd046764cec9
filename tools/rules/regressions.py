"""Slow without anything wrong in the log: the build itself is the suspect."""

from __future__ import annotations

from tools.engine import Arguments, EarlierRun, Launch, ServerInfo, ServerLog, Traffic
from tools.engine.history import History
from tools.errors import Undecided
from tools.nvidia.gpus import Gpus
from tools.physics.bounds import Bounds
from tools.rule import Cleared, Effect, Finding, Outcome, rule

SMALL = 4  # requests; a larger batch may compute for longer
FACTOR = 2.0  # of the time to read the whole card
ANY_CARD_MS = 120.0  # no card but shared-memory boxes needs so long to read all it holds
COURSE = 14  # lines of each run; with so many the course of the log is judged, see changes.py
WORSE = 1.05  # of the step before: two starts of one build differ by 2 % or so
# Arguments that change a step; hosts, ports, names and seeds do not.
BEAR = (
    "model_path", "tp_size", "dp_size", "pp_size", "ep_size", "quantization", "dtype",
    "kv_cache_dtype", "attention_backend", "decode_attention_backend", "speculative_algorithm",
    "speculative_num_steps", "speculative_eagle_topk", "speculative_num_draft_tokens",
    "disable_cuda_graph", "disable_custom_all_reduce", "disable_overlap_schedule",
    "enable_torch_compile", "enable_dp_attention", "cpu_offload_gb", "page_size",
)  # fmt: skip
SETTLE = (
    "the previous build on the same node with the same request; then bisect (git bisect) between"
    " the two"
)


@rule(cause="version_regression")
def nothing_wrong_but_slow(
    log: ServerLog, gpus: Gpus | None, launch: Launch | None, info: ServerInfo | None
) -> Outcome:
    """This build is slower than the one before it."""
    args, traffic, bounds = Arguments(launch, info, log), Traffic(log), Bounds.of(log, gpus)
    if bounds is None:
        raise Undecided(
            "no step was measured; two builds must be compared", settle=SETTLE, suspicion=0.05
        )
    if args.text("device") == "cpu":
        return Cleared("the server runs on the CPU, whose steps no card's memory bounds", (log,))
    most = bounds.card_ms * FACTOR if bounds.card_ms else ANY_CARD_MS
    if bounds.running > SMALL or bounds.step_ms < most:
        return Cleared(
            f"a step of {bounds.step_ms:.0f} ms is not absurdly long for a card of this kind",
            (log,),
        )
    if any(line.graph is False for line in traffic.decode):
        return Cleared("decode runs without graphs, which explains it", (log,))
    if (args.number("cpu_offload_gb") or 0) > 0:
        return Cleared("weights in host memory cross the PCIe link in each step, which explains it")
    if not any(line.graph for line in traffic.decode):
        raise Undecided(
            "whether graphs are used is not told; the build is one suspect", suspicion=0.1
        )
    accept = f", accept length {traffic.accept_len:.2f}" if traffic.accept_len else ""
    raise Undecided(
        f"graphs are used{accept}, {bounds.running} request(s) run, nothing in the log is wrong,"
        f" and still a step takes {bounds.step_ms:.0f} ms: the build is the suspect",
        settle=SETTLE,
        suspicion=0.5,
    )


@rule(cause="version_regression")
def slower_than_the_run_before(log: ServerLog) -> Outcome:
    """The run before this one took less time for the same step."""
    old = log.before
    if old is None or not old.steps_ms:
        return None
    pair = _both(old, log)
    if pair is None:
        raise Undecided(
            "the run before shows no step at the same number of requests",
            settle="the same single request on both",
            suspicion=0.1,
        )
    before_ms, now_ms, running = pair
    if now_ms < WORSE * before_ms:
        return Cleared(
            f"a step takes {now_ms:.1f} ms, and {before_ms:.1f} in the run before", (log,)
        )
    said = (
        f"With {running} request(s) a step takes {now_ms:.1f} ms; in the run before it took"
        f" {before_ms:.1f} ms"
    )
    changed = _changed(old, log)
    if (changed or not _built_anew(log, old)) and _long(old, log):
        return Cleared(f"{said}, which the course of the log tells more exactly", (log,))
    if changed:
        raise Undecided(
            f"{said}; but the runs differ in {', '.join(changed[:4])}",
            settle=f"both builds with the same {changed[0]}, the same single request",
            suspicion=0.4,
        )
    return _slower(log, old, said, (before_ms / now_ms - 1) * 100, running)


def _both(old: EarlierRun, log: ServerLog) -> tuple[float, float, int] | None:
    """Return the steps of both runs at the smallest number of requests that both show."""
    now = History.of_log(log).runs[-1].steps_ms
    same = sorted(set(now) & set(old.steps_ms))
    return (old.steps_ms[same[0]], now[same[0]], same[0]) if same else None


def _changed(old: EarlierRun, log: ServerLog) -> list[str]:
    """Name the arguments that bear on speed and differ; new builds add arguments of their own."""
    before, now = old.resolved or {}, log.resolved or {}
    return [name for name in BEAR if name in before and name in now and before[name] != now[name]]


def _long(old: EarlierRun, log: ServerLog) -> bool:
    """Say whether both runs have lines enough for a change to be told from chance."""
    return min(len(old.decode), len(log.steady())) >= COURSE


def _lost_addresses(log: ServerLog, old: EarlierRun) -> bool:
    return bool(old.graph_addresses) and not log.graph_addresses


def _other_version(log: ServerLog, old: EarlierRun) -> bool:
    return bool(old.version and log.version and old.version != log.version)


def _built_anew(log: ServerLog, old: EarlierRun) -> bool:
    return _lost_addresses(log, old) or _other_version(log, old)


def _slower(log: ServerLog, old: EarlierRun, said: str, loss_pct: float, running: int) -> Outcome:
    lost, other = _lost_addresses(log, old), _other_version(log, old)
    if not (lost or other):
        raise Undecided(
            f"{said}, with the same arguments; whether the build or the machine changed is not told",
            settle=SETTLE,
            suspicion=0.5 if running <= SMALL else 0.3,  # many may ask for other things than before
        )
    builds = f" ({old.version} before, {log.version} now)" if other else ""
    why = (
        " The earlier run registered graph addresses of the engine's own all-reduce, this one does"
        " not: small messages go through NCCL now."
        if lost
        else ""
    )
    return Finding(
        f"{said}, with the same arguments{builds}.{why}",
        shown_by=(log,),
        confidence=0.75 if lost and other else 0.65,
        slows=frozenset({"decode", "throughput"}),
        effect=Effect(
            decode_pct=(round(loss_pct - 2, 1), round(loss_pct, 1), round(loss_pct + 2, 1)),
            source="the Decode lines of both runs",
        ),
        remedy=(
            *(
                (
                    "With 0.5.12: SGLANG_OPT_USE_CUSTOM_ALL_REDUCE_V2=0 in the server's environment;"
                    " 0.5.13 falls back by itself.",
                )
                if lost
                else ()
            ),
            "Otherwise the build before, and a report with both logs.",
        ),
        verify="the step time of the run before"
        + (", and 'Registering ... cuda graph addresses' after the capture" if lost else ""),
    )


RULES = (nothing_wrong_but_slow, slower_than_the_run_before)
