"""What keeps requests waiting: KV pool, state pool, a limit on running requests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from tools.engine import Arguments, DecodeLine, Launch, Notice, ServerInfo, ServerLog, Traffic
from tools.engine.traffic import quoted
from tools.errors import Undecided
from tools.rule import Aspect, Cleared, Effect, Finding, Interval, Outcome, rule

FULL, HALF_EMPTY = 0.95, 0.5  # SGLang retracts near 1.0; far below it another limit binds
RARE = 0.02  # retractions for each Decode line, below which they are no habit
CROWDED = 0.6  # with tokens to come reserved, the next request may not fit from here on
STATES_FULL = 0.9
QUEUED_PCT = 20.0  # so many of the Decode lines show a queue: no passing wave
WAITS: frozenset[Aspect] = frozenset({"throughput", "ttft", "tail"})
TAKEN: frozenset[Aspect] = WAITS | {
    "decode"
}  # who is taken back gets no tokens, and is computed once more
AGGREGATE: Interval = (-60.0, -35.0, -10.0)
SOURCE = "+54 % at 8 streams where a cap of 6 was lifted (SGLang 38846); coarse"


@rule(cause="kv_pool_small")
def kv_cache_full(log: ServerLog, launch: Launch | None, info: ServerInfo | None) -> Outcome:
    """Requests wait or are taken back because the KV cache is full."""
    args, traffic = Arguments(launch, info, log), Traffic(log)
    taken = [n for n in log.said("retraction") if "testing retraction" not in n.text.lower()]
    usage = max((_fullest(n) for n in log.decode), default=0.0)
    full = [n for n in traffic.decode if _fullest(n) >= FULL and n.queued]
    times = sum(notice.times for notice in taken)
    window = any((n.swa_usage or 0.0) >= FULL > (n.usage or 0.0) for n in full)
    if taken and usage < FULL and times < RARE * len(traffic.decode):
        return Cleared(
            f"requests were taken back {times} time(s) only beside {len(traffic.decode)} Decode"
            f" lines, in which the KV cache is at most {max(usage, 0.01):.0%} full",
            (log,),
        )
    if taken:
        why = f"Requests were taken back {times} time(s): the KV cache was full."
        return _kv(why, args, taken, 0.88, window=window, slows=TAKEN)
    if full:
        back = _sent_back(traffic.decode)
        why = (
            f"The KV cache is {usage:.0%} full while up to {max(n.queued or 0 for n in full)}"
            " requests wait" + (", which ran before." if back else ".")
        )
        return _kv(why, args, [], 0.8, window=window, slows=TAKEN if back else WAITS)
    if not traffic.decode:
        raise Undecided("no Decode line tells how full the KV cache is", suspicion=0.05)
    if found := _crowded(log, traffic, args):
        return found
    return Cleared(
        f"the KV cache is at most {max(usage, 0.01):.0%} full, and nothing was taken back", (log,)
    )


@rule(cause="mamba_state_cap")
def state_pool_caps(log: ServerLog, info: ServerInfo | None, launch: Launch | None) -> Outcome:
    """The pool of recurrent states caps how many requests run."""
    args, traffic = Arguments(launch, info, log), Traffic(log)
    caps = [n for n in log.said("cap") if "mamba state cache" in n.text]
    used = max((n.mamba_usage or 0.0 for n in traffic.decode), default=0.0)
    if not caps and not used:
        return Cleared("the model keeps no recurrent state, as far as the log shows", (log,))
    if not caps and used < STATES_FULL:
        return Cleared(f"the state pool is at most {used:.0%} full", (log,))
    kv = max((n.usage or 0.0 for n in traffic.decode), default=0.0)
    if not traffic.decode or not traffic.queued_pct:
        if caps and not traffic.decode:
            raise Undecided(
                f"{caps[0].text[:160]}; whether requests wait is not seen", suspicion=0.3
            )
        return Cleared("no request waits", (log,))
    if kv >= FULL:
        return Cleared(f"the KV cache itself is {kv:.0%} full", (log,))
    top = traffic.most_running
    other = any("reduced from the requested" in n.text for n in log.said("cap"))
    return Finding(
        f"{top} requests run and others wait although the KV cache is only {kv:.0%} full: "
        "the pool of"
        f" recurrent states ({used:.0%} used) allows no more." + _asked(args, top),
        shown_by=(log,),
        confidence=0.93 if caps else 0.55 if other else 0.75,
        slows=WAITS,
        effect=Effect(decode_pct=AGGREGATE, source=SOURCE),
        remedy=(_more_states(caps, args), "Or halve a state: --mamba-ssm-dtype bfloat16."),
        verify="ready line max_running_requests as wanted, #queue-req 0 at the same load",
        quotes=(*(n.text for n in caps[:1]), *quoted(traffic.decode[-1:])),
    )


def _queue(queued_pct: float) -> str:
    if not queued_pct:
        return "no Decode line shows a request that waits"
    return f"requests wait in only {queued_pct:.0f} % of the Decode lines"


@rule(cause="batching_limits")
def limit_on_running_requests(
    log: ServerLog, launch: Launch | None, info: ServerInfo | None
) -> Outcome:
    """A limit on running requests makes others wait while memory is free."""
    args, traffic = Arguments(launch, info, log), Traffic(log)
    if any("mamba state" in n.text or "reduced from" in n.text for n in log.said("cap")):
        return Cleared("the limit follows from a pool, which is judged apart", (log,))
    if not traffic.decode:
        raise Undecided("no Decode line shows the load", suspicion=0.05)
    if traffic.queued_pct < QUEUED_PCT:
        return Cleared(_queue(traffic.queued_pct), (log,))
    queued = [n for n in traffic.decode if n.queued]
    usage = median(max(n.usage or 0.0, n.mamba_usage or 0.0, n.swa_usage or 0.0) for n in queued)
    if usage >= HALF_EMPTY:
        return Cleared(f"the pools are {usage:.0%} full while requests wait", (log,))
    limit = log.max_running or args.count("max_running_requests")
    top = traffic.most_running
    if limit is not None and top < limit:
        raise Undecided(
            f"at most {top} requests run of {limit} allowed, and others wait",
            settle="read #pending-token and the Prefill lines between: is prefill the queue?",
            suspicion=0.25,
        )
    reset = [n.text for n in log.said("cap") if "reset to" in n.text]
    return Finding(
        f"{top} requests run, others wait, and the pools are only {usage:.0%} full: the limit on"
        " running requests binds.",
        shown_by=(log,),
        confidence=0.85 if limit else 0.65,
        slows=WAITS,
        effect=Effect(decode_pct=(-50.0, -20.0, -5.0), source="own estimate: the aggregate alone"),
        remedy=(
            "Raise --max-num-seqs." if args.engine == "vllm" else "Raise --max-running-requests.",
            "Raise the largest CUDA graph with it.",
        ),
        verify="#queue-req 0 and more #running-req at the same load",
        quotes=(*reset[:1], *quoted(queued[-1:])),
    )


def _crowded(log: ServerLog, traffic: Traffic, args: Arguments) -> Finding | None:
    """Below full, what is reserved for tokens to come can keep the next request out."""
    queued = [n for n in traffic.decode if n.queued and n.usage is not None]
    limit = log.max_running or args.count("max_running_requests")
    if traffic.queued_pct < QUEUED_PCT or not queued or not limit:
        return None
    usage, states = (
        median(n.usage or 0.0 for n in queued),
        median(n.mamba_usage or 0.0 for n in queued),
    )
    if usage < CROWDED or states >= STATES_FULL or traffic.most_running >= limit:
        return None
    small = [n for n in log.said("clamp") if "fewer than --context-length" in n.text]
    why = (
        f"Requests wait in {traffic.queued_pct:.0f} % of the lines while {traffic.most_running} of"
        f" {limit} allowed run and the KV cache is {usage:.0%} full: what is left does not hold"
        " another."
    )
    return _kv(why, args, small, 0.8 if small else 0.65)


def _fullest(line: DecodeLine) -> float:
    """Return the usage of the fuller pool: full attention, or the sliding window."""
    return max(line.usage or 0.0, line.swa_usage or 0.0)


def _sent_back(lines: Sequence[DecodeLine]) -> bool:
    """Say whether requests that ran wait again: fewer run than a line before, and none came."""
    return any(
        one.rank == then.rank
        and not one.queued
        and (then.queued or 0) > 0
        and (then.running or 0) + (then.queued or 0) <= (one.running or 0)
        for one, then in pairwise(lines)
    )


def _kv(
    why: str,
    args: Arguments,
    taken: list[Notice],
    confidence: float,
    *,
    window: bool = False,
    slows: frozenset[Aspect] = WAITS,
) -> Finding:
    vllm = args.engine == "vllm"
    return Finding(
        f"{why} The pool that is full is that of the sliding window." if window else why,
        confidence=confidence,
        slows=slows,
        effect=Effect(decode_pct=(-50.0, -20.0, -5.0), source="own estimate: the aggregate alone"),
        remedy=(
            *(
                ("--swa-full-tokens-ratio higher: more of the memory for the window.",)
                if window
                else ()
            ),
            "--gpu-memory-utilization a little higher."
            if vllm
            else "--mem-fraction-static a little higher.",
            "KV cache in fp8 (--kv-cache-dtype fp8_e4m3) where the attention backend is fast with"
            " it.",
            "Fewer requests at once, or shorter contexts.",
        ),
        verify="no retraction, and no queue at the same load",
        quotes=tuple(notice.text for notice in taken[:2]),
    )


def _asked(args: Arguments, top: int) -> str:
    wanted = args.count("max_running_requests")
    if not wanted or wanted <= top:
        return ""
    return f" The {wanted} of the arguments is only what was asked."


def _more_states(caps: list[Notice], args: Arguments) -> str:
    each = caps[0].numbers.get("slots_per_request") if caps else None
    wanted = args.count("max_running_requests")
    if each and wanted:
        return (
            f"--max-mamba-cache-size {int(each * wanted)} ({each:.0f} slots for each of {wanted})."
        )
    return "--max-mamba-cache-size or --mamba-full-memory-ratio higher; less is left for KV."


RULES = (kv_cache_full, state_pool_caps, limit_on_running_requests)
