"""Requests that wait although pools leave room: what the scheduler reckons that they will need."""

from __future__ import annotations

from bisect import bisect_left
from itertools import groupby
from statistics import median

from tools.engine import Arguments, DecodeLine, Launch, ServerInfo, ServerLog, Traffic
from tools.engine.traffic import quoted, seconds
from tools.errors import Undecided
from tools.rule import Aspect, Cleared, Effect, Finding, Interval, Outcome, rule

FULL = 0.95  # of the KV cache; from there on it is the cache itself that binds
LONG = 20  # decode lines in a row; one line is 40 steps in SGLang, ten seconds in vLLM
ROOM = 0.7  # of the fullest pool with one request more: below it nothing is short
AGGREGATE: Interval = (-60.0, -35.0, -10.0)
SOURCE = "+54 % at 8 streams where a cap of 6 was lifted (SGLang 38846); coarse"
WAITS: frozenset[Aspect] = frozenset({"throughput", "ttft", "tail"})


@rule(cause="admission_cap_context")
def worst_case_admission(log: ServerLog, info: ServerInfo | None, launch: Launch | None) -> Outcome:
    """Requests are admitted as if each would use the whole context length."""
    traffic, args = Traffic(log), Arguments(launch, info, log)
    caps = [n for n in log.said("cap") if "reduced from the requested" in n.text]
    if not caps:
        return Cleared("no line says that the limit was reduced for KV capacity", (log,))
    usage = max((n.usage or 0.0 for n in traffic.decode), default=None)
    if usage is None:
        raise Undecided(f"{caps[0].text[:160]}; the load was not seen", suspicion=0.3)
    if usage >= FULL or not traffic.queued_pct:
        return Cleared(
            f"the KV cache is {usage:.0%} full, {traffic.queued_pct:.0f} % of lines queue"
        )
    context, tokens = log.context_len or args.count("context_length"), log.max_total_tokens
    sums = (
        f" ({tokens} tokens / {context} context = {tokens // context})"
        if tokens and context
        else ""
    )
    return Finding(
        f"The engine reduced its limit of running requests{sums}: it plans for requests of full"
        f" length, while the KV cache is only {usage:.0%} full and requests wait.",
        shown_by=(log,),
        confidence=0.88,
        slows=WAITS,
        effect=Effect(decode_pct=AGGREGATE, source=SOURCE),
        remedy=(
            f"Lower --context-length{f' from {context}' if context else ''} to what the traffic"
            " needs.",
            "For hybrid models look at mamba usage too: the message blames KV also when states"
            " bind.",
        ),
        verify="no such line at start-up, #queue-req 0 at the same load",
        quotes=(caps[0].text, *quoted(traffic.decode[-1:])),
    )


@rule(cause="batching_limits")
def nothing_is_short_and_nobody_is_let_in(
    log: ServerLog, launch: Launch | None, info: ServerInfo | None
) -> Outcome:
    """Requests wait for long while fewer run than may, no prompt is read, and the pools are empty."""
    args, traffic = Arguments(launch, info, log), Traffic(log)
    limit = log.max_running or args.count("max_running_requests")
    stretch = _longest(log, traffic)
    if not limit or len(stretch) < LONG or len(traffic.ranks) > 1:
        return None
    top = max(line.running or 0 for line in stretch)
    waiting = min(line.queued or 0 for line in stretch)
    used = median(_fullest(line) for line in stretch)
    if top >= limit or used * (top + 1) / top > ROOM:
        return None
    return Finding(
        f"Over {len(stretch)} Decode lines {top} of {limit} allowed requests run and at least"
        f" {waiting} wait, no prompt is read, and the fullest pool is {used:.0%} full: no limit and no"
        " memory binds. The scheduler holds them back by its own reckoning: room kept for answers to"
        " come, or a batch that it takes for full.",
        shown_by=(log,),
        confidence=0.65,
        slows=WAITS,
        effect=Effect(decode_pct=(-50.0, -20.0, -5.0), source="own estimate: the aggregate alone"),
        remedy=(
            "A smaller max_new_tokens in the requests, or a lower --schedule-conservativeness: each"
            " request keeps room for its whole answer.",
            "Where few requests are meant: --max-running-requests one or two higher, and a newer"
            " version (SGLang 35537: a batch stays 'full' after chunked prefill).",
        ),
        risk="too little kept leads to requests that are taken back",
        verify="#queue-req 0 at the same load, and no retraction",
        quotes=quoted(stretch[:1]) + quoted(stretch[-1:]),
    )


def _longest(log: ServerLog, traffic: Traffic) -> list[DecodeLine]:
    """Return the longest row of decode lines with a queue and without a prompt read in between."""
    read = sorted(at for line in log.prefill if (at := seconds(line.at)) is not None)
    rows: list[list[DecodeLine]] = [[]]
    for queued, lines in groupby(traffic.decode, key=lambda line: bool(line.queued)):
        if not queued:
            continue
        for before, line in _with_before(list(lines)):
            if before is None or _between(read, before, line):
                rows.append([])
            rows[-1].append(line)
    return max(rows, key=len)


def _with_before(lines: list[DecodeLine]) -> list[tuple[DecodeLine | None, DecodeLine]]:
    return list(zip([None, *lines[:-1]], lines, strict=True))


def _between(read: list[float], before: DecodeLine, line: DecodeLine) -> bool:
    """Say whether a prompt was read between two lines, as far as stamps of whole seconds tell."""
    ends = seconds(before.at), seconds(line.at)
    if ends[0] is None or ends[1] is None:
        return True
    at = bisect_left(read, ends[0])
    return at < len(read) and read[at] <= ends[1]


def _fullest(line: DecodeLine) -> float:
    return max(line.usage or 0.0, line.mamba_usage or 0.0, line.swa_usage or 0.0)


RULES = (
    worst_case_admission,
    nothing_is_short_and_nobody_is_let_in,
)
