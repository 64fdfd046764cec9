"""Two runs of one server that differ in switches alone: what a switch cost, and what it cannot have cost."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from tools.engine import EarlierRun, ServerLog
from tools.engine.history import History
from tools.engine.launch import Value
from tools.engine.runs import differences
from tools.engine.track import DecodeBlock
from tools.rule import Aspect, Cleared, Effect, Finding, Outcome, rule

# They choose how the same tokens are computed, and so cannot change which drafts are accepted.
NO_OTHER_TOKENS = frozenset(
    {
        "disable_cuda_graph", "cuda_graph_max_bs", "cuda_graph_bs", "enable_torch_compile",
        "disable_overlap_schedule", "disable_custom_all_reduce", "disable_radix_cache",
        "page_size", "chunked_prefill_size", "mem_fraction_static", "max_running_requests",
        "max_total_tokens", "tp_size", "dp_size", "enable_dp_attention", "attention_backend",
    }
)  # fmt: skip
BACKENDS = ("attention_backend", "decode_attention_backend")
ENOUGH = 9  # lines of each run
ACCEPTS_LESS = 0.8  # of the accept length of the other run; the same prompts scatter by a tenth
GROWTH = 1.05  # of a step from the shortest to the longest third, beyond noise
STEEPER = 3.0  # slope over the length against that of the other run
SPAN = 4.0  # the longest context against the shortest
NOT_SLOWER = 1.1  # a run without graphs that is so much faster owes them nothing
DECODES: frozenset[Aspect] = frozenset({"decode", "throughput"})


@rule(cause="cuda_graph_disabled")
def graphs_were_tried(log: ServerLog) -> Outcome:
    """A run with CUDA graphs, of the same server and load, was no faster."""
    pair = _pair(log)
    if pair is None:
        return None
    old, now = pair
    rates = {}
    for run in pair:
        for graph in (True, False):
            if told := _rates(run, graph=graph):
                rates[graph] = told
    both = sorted(set(rates.get(True, ())) & set(rates.get(False, ())))
    if not both or not (_all(old, graph=True) or _all(now, graph=True)):
        return None
    running = both[-1]
    on, off = rates[True][running], rates[False][running]
    if off < NOT_SLOWER * on:
        return None
    return Cleared(
        f"with {running} request(s) the run with graphs made {on:.0f} tok/s and the one without"
        f" {off:.0f}",
        (log,),
        tested=DECODES,
    )


@rule(cause="draft_head_broken")
def a_switch_changes_what_is_accepted(log: ServerLog) -> Outcome:
    """Drafts are accepted less often in one of two runs, where nothing else but a switch differs."""
    pair = _pair(log)
    if pair is None:
        return None
    changed = differences(pair[0].resolved, pair[1].resolved)
    poor, good = sorted(pair, key=lambda run: run.accept_len or 0.0)
    if (
        not (changed and poor.accept_len and good.accept_len)
        or not changed.keys() <= NO_OTHER_TOKENS
    ):
        return None
    if not _enough(pair, _same_load(pair)) or poor.accept_len > ACCEPTS_LESS * good.accept_len:
        return None
    said = _said(changed, first=poor is pair[0])
    loss = (poor.accept_len / good.accept_len - 1) * 100
    return Finding(
        f"The accept length is {poor.accept_len:.2f} with {said}, and {good.accept_len:.2f} in the"
        " other run at the same load. Such a switch says how tokens are computed and not which: one"
        " of the two computes the drafts wrongly.",
        shown_by=(log,),
        confidence=0.7,
        slows=DECODES,
        effect=Effect(decode_pct=(loss - 10, loss, loss + 10), source="both accept lengths"),
        category="software_bug",
        remedy=(
            "Serve as the run with the longer accept length did, and report both logs to the engine.",
            "A newer version, with the same two runs as its test.",
        ),
        risk="restart",
        verify="the same accept length in both runs, on the same prompts",
        quotes=(f"accept len {poor.accept_len:.2f}", f"accept len {good.accept_len:.2f}"),
    )


@rule(cause="attention_backend_fallback")
def one_backend_slows_with_length(log: ServerLog) -> Outcome:
    """A step grows with the length of the chat under one attention backend and not under another."""
    pair = _pair(log)
    if pair is None:
        return None
    changed = differences(pair[0].resolved, pair[1].resolved)
    if not changed or not changed.keys() <= set(BACKENDS):
        return None
    slopes = [told for run in pair if (told := _slope(run)) is not None]
    if len(slopes) < 2:
        return None
    worse = 0 if slopes[0][0] > slopes[1][0] else 1
    steep, first, last = slopes[worse]
    flat = slopes[1 - worse][0]
    if last < GROWTH * first or steep < STEEPER * max(flat, 0.0):
        return Cleared("with both attention backends a step grows alike with the length", (log,))
    names = [str(next(iter(changed.values()))[side]) for side in (worse, 1 - worse)]
    loss = (first / last - 1) * 100
    return Finding(
        f"With {names[0]} a step takes {first:.2f} ms at the shortest and {last:.2f} ms at the longest"
        f" context, {steep:.2f} ms more for 1000 tokens; with {names[1]} it is {max(flat, 0.0):.2f} ms"
        " on the same machine: the cache is the same, the kernel is not.",
        shown_by=(log,),
        confidence=0.8,
        slows=DECODES,
        effect=Effect(decode_pct=(loss - 3, loss, min(0.0, loss + 3)), source="both runs' lines"),
        category="config",
        remedy=(f"--attention-backend {names[1]}.",),
        verify="the same step at the short and at the long context",
    )


def _pair(log: ServerLog) -> tuple[EarlierRun, EarlierRun] | None:
    """Return the run before and the last one, where both served the same model and nothing mixes."""
    history = History.of_log(log)
    served = [run for run in history.runs if run.decode]
    if history.servers > 1 or len(served) < 2 or served[-1] is not history.runs[-1]:
        return None
    return served[-2], served[-1]


def _enough(pair: tuple[EarlierRun, EarlierRun], running: set[int]) -> bool:
    return all(
        sum(block.lines for block in run.decode if block.running in running) >= ENOUGH
        for run in pair
    )


def _same_load(pair: tuple[EarlierRun, EarlierRun]) -> set[int]:
    counts: list[set[int]] = [{block.running for block in run.decode} for run in pair]
    return counts[0] & counts[1]


def _all(run: EarlierRun, *, graph: bool) -> bool:
    return bool(run.decode) and all(block.graph is graph for block in run.decode)


def _rates(run: EarlierRun, *, graph: bool) -> dict[int, float]:
    """Return requests running -> median tok/s, of the lines with a graph or of those without."""
    told: dict[int, list[float]] = {}
    for block in run.decode:
        if block.graph is graph:
            told.setdefault(block.running, []).append(block.tok_s)
    return {running: median(rates) for running, rates in told.items() if len(rates) >= ENOUGH}


def _slope(run: EarlierRun) -> tuple[float, float, float] | None:
    """Return the ms that 1000 tokens cost a step of one request, and the step at both ends."""
    alone = sorted(
        (block for block in run.decode if block.running == 1 and block.context),
        key=lambda block: block.context or 0.0,
    )
    if len(alone) < ENOUGH or (alone[-1].context or 0.0) < SPAN * (alone[0].context or 1.0):
        return None
    third = len(alone) // 3
    few, many = alone[:third], alone[-third:]
    of: Callable[[list[DecodeBlock]], float] = lambda part: median(b.step_ms for b in part)  # noqa: E731
    tokens = [median(b.context or 0.0 for b in part) for part in (few, many)]
    return (of(many) - of(few)) / (tokens[1] - tokens[0]) * 1e3, of(few), of(many)


def _said(changed: dict[str, tuple[Value, Value]], *, first: bool) -> str:
    return ", ".join(f"{name}={values[0 if first else 1]}" for name, values in changed.items())


RULES = (graphs_were_tried, a_switch_changes_what_is_accepted, one_backend_slows_with_length)
