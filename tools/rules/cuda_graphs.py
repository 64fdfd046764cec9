"""Decode CUDA graphs that are switched off, by a flag or by the engine."""

from __future__ import annotations

from tools.engine import Arguments, DecodeLine, Launch, ServerInfo, ServerLog, Traffic
from tools.engine.traffic import largest_graph, quoted
from tools.errors import Undecided
from tools.rule import Cleared, Effect, Finding, Interval, Outcome, rule
from tools.sglang.spelling import max_graph_flag

# Eager decode: -40 to -85 % seen on 2x RTX 3090 (15 to 18 instead of about 100 tok/s, int4); the
# step model gives -39 % (bf16) to -69 % (int4) for a 27B model on two GPUs.
EAGER: Interval = (-85.0, -55.0, -35.0)
# With weights streamed from host memory each step is bound by that, with graphs or without.
EAGER_OFFLOADED: Interval = (-30.0, -10.0, 0.0)
SURE_LINES = 5  # so many lines of False are no warm-up


@rule(cause="cuda_graph_disabled")
def graphs_disabled_by_flag(
    launch: Launch, log: ServerLog | None, info: ServerInfo | None
) -> Outcome:
    """A flag switches CUDA graphs for decode off."""
    if launch.flags is None:
        raise Undecided("the command line was not seen", settle="tr '\\0' ' ' < /proc/PID/cmdline")
    args = Arguments(launch, info, log)
    backend_off = str(args.asked("cuda_graph_backend_decode")).lower() == "disabled"
    if not (args.asked_on("disable_cuda_graph") or backend_off):
        return Cleared("no flag switches decode graphs off", (launch,))
    if log and any(line.graph for line in Traffic(log).decode):
        return Cleared("Decode lines show 'cuda graph: True' in spite of the flag", (log,))
    said = args.flags("disable_cuda_graph", "cuda_graph_backend_decode")
    statement = f"{said[0]} is on the command line: each decode step launches every kernel by hand."
    return _off(statement, said, args, 0.92)


@rule(cause="cuda_graph_disabled")
def graphs_not_used(log: ServerLog, launch: Launch | None, info: ServerInfo | None) -> Outcome:
    """No decode batch of any size runs in a CUDA graph."""
    args = Arguments(launch, info, log)
    told = [line for line in Traffic(log).decode if line.graph is not None]
    if args.text("device") == "cpu":
        return Cleared("the server runs on the CPU, where there are no CUDA graphs")
    if used := sum(bool(line.graph) for line in told):
        return Cleared(f"{used} of {len(told)} Decode lines show 'cuda graph: True'", (log,))
    if args.on("disable_cuda_graph"):
        return _resolved_off(args, log)
    return _never_true(log, told, args) if told else _by_start_up(log, args)


def _resolved_off(args: Arguments, log: ServerLog) -> Finding:
    by_itself = args.seen and not args.asked_on("disable_cuda_graph")
    who = "The engine itself resolved" if by_itself else "The server's arguments say"
    quotes = (*_reasons(log), "disable_cuda_graph=True")
    return _off(f"{who} disable_cuda_graph=True: decode has no CUDA graphs.", quotes, args, 0.9)


def _never_true(log: ServerLog, told: list[DecodeLine], args: Arguments) -> Outcome:
    """All lines say False: graphs are off, unless every batch seen was above the largest graph."""
    lowest, captured = min(line.running or 0 for line in told), largest_graph(log)
    reach = captured or args.count("cuda_graph_max_bs")
    if reach and lowest > reach:
        return Cleared(f"graphs reach batch {reach}; every batch seen was larger", (log,))
    if captured and (args.count("dp_size") or 1) > 1:
        return Cleared("graphs were captured; the sum over DP ranks may exceed them", (log,))
    shown = "All" if len(told) > 1 else "The"
    lines = f"{len(told)} Decode lines show" if len(told) > 1 else "one Decode line shows"
    requests = "request" if lowest == 1 else "requests"
    statement = f"{shown} {lines} 'cuda graph: False', from {lowest} {requests} on."
    sure = 0.9 if captured is None or len(told) >= SURE_LINES else 0.7
    return _off(statement, quoted(told[:2]), args, sure)


def _by_start_up(log: ServerLog, args: Arguments) -> Outcome:
    """Old Decode lines have no such field, which is not False: only the start-up can tell."""
    failed = log.said("start_failed", "oom") and not any(one.finished for one in log.captures)
    if failed and log.captures:
        raise Undecided("the start-up ends while graphs are captured", suspicion=0.03)
    if captured := largest_graph(log):
        return Cleared(f"graphs up to batch {captured} were captured, and no flag is set", (log,))
    if any(one.what == "decode" and one.finished for one in log.captures):
        return Cleared("decode graphs were captured, and no flag switches them off", (log,))
    if args.engine == "vllm" and args.dumped:
        return Cleared("enforce_eager is not set", (log,))
    if reasons := _reasons(log):
        return _off("The log says that CUDA graphs are off.", reasons, args, 0.8)
    raise Undecided(
        "neither capture lines nor a 'cuda graph' field are in this part of the log",
        settle="grep -iE 'Capture .*cuda graph|disable_cuda_graph' in the whole serve log",
        suspicion=0.04,
    )


def _reasons(log: ServerLog) -> tuple[str, ...]:
    """Return what the engine says of decode graphs; a prefill graph says nothing about decode."""
    texts = (notice.text for notice in log.said("graph_off"))
    return tuple(t for t in texts if "piecewise" not in t.lower() and "prefill" not in t.lower())


def _off(statement: str, quotes: tuple[str, ...], args: Arguments, confidence: float) -> Finding:
    streamed = (args.number("cpu_offload_gb") or 0) > 0
    vllm = args.engine == "vllm"
    smaller = "a lower --max-num-seqs" if vllm else max_graph_flag(args, 8)
    flag = "--enforce-eager" if vllm else "--disable-cuda-graph (or --disable-decode-cuda-graph)"
    proof = "'Graph capturing finished'" if vllm else "'Capture ... cuda graph end'"
    return Finding(
        statement,
        confidence=min(confidence, 0.5) if streamed else confidence,
        slows=frozenset({"decode", "throughput"}),
        effect=Effect(
            decode_pct=EAGER_OFFLOADED if streamed else EAGER,
            source="one measured pair and the step model; coarse",
        ),
        category="config",
        remedy=(
            f"Remove {flag}.",
            f"If capture once ran out of memory: {smaller}, or a little less memory for the KV"
            " pool.",
        ),
        risk="A restart; capture takes some memory and up to a minute.",
        verify=f"{proof} at start-up"
        + ("" if vllm else ", then 'cuda graph: True' in Decode lines"),
        quotes=quotes,
    )


RULES = (graphs_disabled_by_flag, graphs_not_used)
