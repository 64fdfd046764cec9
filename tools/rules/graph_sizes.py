"""Decode batches that are larger than the largest captured CUDA graph."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from tools.engine import Arguments, Benchmark, DecodeLine, Launch, ServerInfo, ServerLog, Traffic
from tools.engine.traffic import largest_graph, quoted
from tools.errors import Undecided
from tools.rule import Cleared, Effect, Finding, Interval, Outcome, rule
from tools.sglang.spelling import max_graph_flag

CLIFF: Interval = (-60.0, -45.0, -30.0)  # a batch above the largest graph against one below it
EAGER: Interval = (-85.0, -55.0, -35.0)  # as without graphs at all
COARSE = "one measured pair (2x RTX 3090) and the step model; coarse"
TINY = 4  # a largest graph of so few requests is meant for one user
AGREE = 0.95  # share of the Decode lines that must fit; one may fall on a change of the batch
COUNTS_PER_RANK = (0, 4, 7)  # SGLang pull request 6092


@rule(cause="cuda_graph_bs_exceeded")
def batch_above_the_largest_graph(
    log: ServerLog, launch: Launch | None, info: ServerInfo | None, benchmark: Benchmark | None
) -> Outcome:
    """Batches above the largest captured CUDA graph decode without one."""
    args, traffic = Arguments(launch, info, log), Traffic(log)
    if args.on("disable_cuda_graph"):
        return Cleared("graphs are off altogether, whatever the batch", (log,))
    largest = largest_graph(log) or args.count("cuda_graph_max_bs")
    without = [line for line in traffic.decode if line.graph is False]
    within = [line for line in traffic.decode if line.graph]
    if without:
        return _cliff(log, without, within, largest, args)
    if within:
        top = max(line.running or 0 for line in within)
        allowed = log.max_running or args.count("max_running_requests")
        if largest and allowed and allowed > largest:
            return _not_reached_yet(log, top, largest, allowed, args)
        return Cleared(f"all Decode lines, up to {top} requests, ran in a graph", (log,))
    return _by_numbers(log, traffic, largest, args, benchmark)


@rule(cause="cuda_graph_dp_global_limit")
def graphs_lost_to_the_sum_over_ranks(
    log: ServerLog, launch: Launch | None, info: ServerInfo | None
) -> Outcome:
    """With DP attention the sum over the ranks exceeds the largest graph, so decode uses none."""
    args, traffic = Arguments(launch, info, log), Traffic(log)
    ranks, each = args.count("dp_size") or _ranks(traffic), traffic.usual_running
    largest = largest_graph(log) or args.count("cuda_graph_max_bs")
    if ranks < 2 or (args.dumped and not args.on("enable_dp_attention")):
        return Cleared("there is no DP attention over several ranks", (log,))
    if any(line.graph for line in traffic.decode):
        return Cleared("Decode lines show 'cuda graph: True'", (log,))
    if not largest or not each:
        raise Undecided("the largest graph or the load of each rank is not told", suspicion=0.1)
    if each > largest or each * ranks <= largest:
        return Cleared(f"{each} requests on each of {ranks} ranks; graphs reach {largest}", (log,))
    return _summed(log, traffic, args, ranks, largest)


def _ranks(traffic: Traffic) -> int:
    return len({rank.split()[0] for rank in traffic.ranks if rank.startswith("DP")})


def _summed(log: ServerLog, traffic: Traffic, args: Arguments, ranks: int, largest: int) -> Finding:
    each, observed = traffic.usual_running, any(line.graph is False for line in traffic.decode)
    if args.version and args.version >= COUNTS_PER_RANK and not observed:
        raise Undecided(
            "this version counts per rank; whether graphs are used is not in the lines",
            settle="look for cudaGraphLaunch in an nsys profile of ten decode steps",
            suspicion=0.2,
        )
    return Finding(
        f"Each of {ranks} ranks decodes {each} requests; their sum, {each * ranks}, is above the"
        f" largest captured graph ({largest}). Builds before 0.4.7 compare the sum, so decode runs"
        " without graphs although they were captured.",
        shown_by=(log,),
        confidence=0.85 if observed else 0.75,
        slows=frozenset({"decode", "throughput"}),
        effect=Effect(decode_pct=EAGER, source=COARSE),
        remedy=(
            "Upgrade to 0.4.7 or later, which compares the largest rank (pull request 6092).",
            f"Until then {max_graph_flag(args, each * ranks)}.",
        ),
        quotes=quoted(traffic.decode[:2]),
    )


def _not_reached_yet(
    log: ServerLog, top: int, largest: int, allowed: int, args: Arguments
) -> Finding:
    """Tell of a cliff that the load has not come to."""
    return Finding(
        f"CUDA graphs reach {largest} requests and up to {allowed} may run: batches above {largest}"
        f" would decode without a graph. At most {top} ran, all in a graph, so it costs nothing yet.",
        shown_by=(log,),
        confidence=0.9,
        slows=frozenset({"throughput"}),
        remedy=(f"Before the load grows: {max_graph_flag(args, allowed)}.",),
        benign=True,
    )


def _cliff(
    log: ServerLog,
    without: list[DecodeLine],
    within: list[DecodeLine],
    largest: int | None,
    args: Arguments,
) -> Outcome:
    lowest = min(line.running or 0 for line in without)
    top = max((line.running or 0 for line in within), default=0)
    edge = top if largest is None else largest
    if not edge or (largest is None and lowest <= top):
        return Cleared("'cuda graph: False' does not go with the size of the batch", (log,))
    if sum((line.running or 0) > edge for line in without) < AGREE * len(without):
        return Cleared(f"also batches of {lowest} run without a graph; graphs reach {edge}", (log,))
    most = max(line.running or 0 for line in without)
    measured = _measured(without, within)
    return Finding(
        f"CUDA graphs reach {edge} requests; the {len(without)} Decode lines above it (up to"
        f" {most} running) show 'cuda graph: False'.{_compared(without, within)}",
        shown_by=(log,),
        confidence=0.95 if within else 0.85,
        slows=frozenset({"decode", "throughput"}),
        effect=Effect(
            decode_pct=measured or CLIFF,
            source="medians of the Decode lines on both sides of the edge" if measured else COARSE,
            measured=measured is not None,
        ),
        remedy=(f"Raise the largest graph: {max_graph_flag(args, most)}.",),
        risk="A restart; every captured size takes some memory from the KV pool.",
        verify=f"capture lines that end at {most} or more, and 'cuda graph: True' at that batch",
        quotes=(*quoted(without[:1]), *quoted(within[-1:])),
    )


def _measured(without: Sequence[DecodeLine], within: Sequence[DecodeLine]) -> Interval | None:
    """Return what the whole server loses above the edge, from the rates of the lines themselves."""
    above, below = _rates(without), _rates(within)
    if not above or not below or median(above) >= median(below):
        return None
    loss = (median(above) / median(below) - 1) * 100
    return (round(loss - 8, 1), round(loss, 1), round(min(0.0, loss + 8), 1))


def _rates(lines: Sequence[DecodeLine]) -> list[float]:
    """Return the server's rates at the largest tenth of the batches seen."""
    rated = [(n.running or 0, n.tok_s) for n in lines if n.tok_s and not n.after_gap]
    rated.sort()
    return [rate for _, rate in rated[-max(1, len(rated) // 10) :]]


def _compared(without: Sequence[DecodeLine], within: Sequence[DecodeLine]) -> str:
    above, below = _rates(without), _rates(within)
    if not above or not below:
        return ""
    return f" The server gives {median(above):.0f} tok/s there and {median(below):.0f} below it."


def _by_numbers(
    log: ServerLog,
    traffic: Traffic,
    largest: int | None,
    args: Arguments,
    benchmark: Benchmark | None,
) -> Outcome:
    """Judge without a 'cuda graph' field: what was captured, and what was asked of it."""
    settle = "look at '#running-req' and 'cuda graph' in the Decode lines under load"
    if largest is None:
        raise Undecided("the largest captured graph is not told", settle=settle, suspicion=0.03)
    limit = log.max_running or args.count("max_running_requests") or 0
    client = (benchmark.concurrency if benchmark else None) or 0
    load = max(traffic.most_running, min(client, limit or client))
    if load > largest:
        return _exceeds(log, largest, load, args, 0.85)
    if traffic.decode:
        return Cleared(f"at most {load} requests ran, and graphs reach {largest}", (log,))
    if largest <= TINY and limit > largest and args.was_asked("cuda_graph_max_bs"):
        return _exceeds(log, largest, limit, args, 0.6)
    why = (
        f"graphs reach {largest} requests, {limit or 'an unknown number'} may run; no line shows it"
    )
    raise Undecided(why, settle=settle, suspicion=0.2 if limit > largest else 0.03)


def _exceeds(
    log: ServerLog, largest: int, load: int, args: Arguments, confidence: float
) -> Finding:
    return Finding(
        f"CUDA graphs are captured up to {largest} request(s), while up to {load} may be decoded"
        " together: larger batches run without a graph.",
        shown_by=(log,),
        confidence=confidence,
        slows=frozenset({"decode", "throughput"}),
        effect=Effect(decode_pct=CLIFF, source=COARSE),
        remedy=(f"Raise the largest graph: {max_graph_flag(args, load)}.",),
        risk="A restart; every captured size takes some memory from the KV pool.",
        verify=f"capture lines that end at {load} or more",
        quotes=tuple(f"captured bs {list(c.sizes)}" for c in log.captures if c.what == "decode")[
            :1
        ],
    )


RULES = (batch_above_the_largest_graph, graphs_lost_to_the_sum_over_ranks)
