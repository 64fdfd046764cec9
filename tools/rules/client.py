"""Clients that wait for themselves: slower than the server, their own queue, too small a pool."""

from __future__ import annotations

from itertools import pairwise
from statistics import median

from tools.engine import Benchmark, Claim, DecodeLine, Metrics, ServerLog, Traffic
from tools.engine.traffic import quoted
from tools.errors import Undecided
from tools.rule import Cleared, Finding, Outcome, rule

FASTER = 1.3  # the catalogue says 10 %; a benchmark's average also holds its ramps and prefills
SECONDS_MS = 5000.0  # a TTFT that no prefill of a server without a queue takes
INSIDE = 0.5  # of the client's time to first token, spent in the server: then it is the server's
MOSTLY = 0.5  # of what the server counted must be this run, and of this run as much be counted
LINES = 5  # Decode lines that show the queue
PEAK, REST, TAIL = 32, 0.05, 4  # running requests at the peak, share left, lines of the tail
FEWER = 4  # times fewer requests run than are said to be sent
HALF_FULL = 0.5  # usage of the KV pool below which it turns nobody away
ONE_STREAM = 0.05  # usage of the KV pool below which nothing holds requests back


@rule(cause="client_bound")
def server_faster_than_client(log: ServerLog, benchmark: Benchmark) -> Outcome:
    """The server's own rate is well above what the client measured."""
    told, traffic = benchmark.output_tok_s, Traffic(log)
    lines = [n for n in traffic.steady if n.running == (benchmark.concurrency or n.running)]
    if told is None or len(lines) < LINES:
        raise Undecided(
            "rate of the client, or the server's lines at its load, not seen", suspicion=0.03
        )
    per_rank = median(line.tok_s or 0.0 for line in lines)
    rate = per_rank * max(1, len({line.rank for line in lines}))
    if rate <= FASTER * told:
        return Cleared(
            f"the server's own rate is {rate:.0f} tok/s, the client's {told:.0f}", (log,)
        )
    if traffic.queued_pct:
        return Cleared("requests queue in the server itself", (log,))
    raise Undecided(
        f"the server's lines show {rate:.0f} tok/s at full load, the client {told:.0f} on average",
        settle="the benchmark's own tokens / (duration - TTFT); count usage tokens, not chunks",
        suspicion=0.3,
    )


@rule(cause="client_semaphore_queue")
def client_queues_by_itself(log: ServerLog, benchmark: Benchmark) -> Outcome:
    """The time to first token holds the wait for the client's own limit."""
    ttft, limit, prompts = benchmark.ttft_mean_ms, benchmark.concurrency, benchmark.prompts
    lines = [n for n in log.decode if n.queued is not None]
    if ttft is None:
        raise Undecided("the benchmark does not tell the time to first token", suspicion=0.02)
    if ttft < SECONDS_MS:
        return Cleared(f"the mean time to first token is {ttft / 1e3:.1f} s", (benchmark,))
    if len(lines) < LINES:
        raise Undecided(
            "the server's queue during the run was not seen",
            settle="the Decode lines during the run: #queue-req; one prompt alone",
            suspicion=0.3,
        )
    queued = sum(bool(line.queued) for line in lines)
    if queued > 0.1 * len(lines):
        return Cleared(f"requests queue in the server in {queued} of {len(lines)} lines", (log,))
    if not (limit and prompts and prompts > limit):
        raise Undecided(
            "the server has no queue; the client's own limit is not told",
            settle="one prompt at concurrency 1, then as many prompts as the concurrency",
            suspicion=0.4,
        )
    return Finding(
        f"The server never has a request waiting (0 of {len(lines)} lines), while the client"
        f" counts {ttft / 1e3:.0f} s to the first token: {prompts} prompts wait for its own limit"
        f" of {limit}.",
        confidence=0.88,
        slows=frozenset({"ttft", "tail", "throughput"}),
        quotes=(
            f"Mean TTFT (ms): {ttft:g}; concurrency {limit}, prompts {prompts}",
            *quoted(lines[:1]),
        ),
    )


@rule(cause="client_semaphore_queue")
def client_waits_before_the_server(benchmark: Benchmark, metrics: Metrics) -> Outcome:
    """The client's time to first token is far longer than the server's own."""
    ttft, own = benchmark.ttft_mean_ms, _own_ttft_ms(metrics, benchmark.prompts or 1)
    if ttft is None or own is None:
        raise Undecided("")  # client_queues_by_itself says what is missing
    if ttft < SECONDS_MS:
        return Cleared(f"the mean time to first token is {ttft / 1e3:.1f} s", (benchmark,))
    if own > INSIDE * ttft:
        return Cleared(f"the server itself counts {own / 1e3:.1f} s to the first token", (metrics,))
    return Finding(
        f"The client counts {ttft / 1e3:.1f} s to the first token, the server {own / 1e3:.2f} s: the"
        " rest passes before a request reaches the server, in the client's own limit, its connections,"
        " a proxy or the network.",
        confidence=0.8,
        slows=frozenset({"ttft", "tail", "throughput"}),
        quotes=(f"Mean TTFT (ms): {ttft:g}", f"time_to_first_token_seconds mean {own / 1e3:.3g}"),
    )


def _own_ttft_ms(metrics: Metrics, prompts: int) -> float | None:
    """Return the server's mean, if its counters hold this run and little else."""
    for counted in (metrics.deltas, metrics.totals):
        count = counted.get("time_to_first_token_seconds_count", 0.0)
        if MOSTLY * prompts <= count <= prompts / MOSTLY:
            return counted.get("time_to_first_token_seconds_sum", 0.0) / count * 1e3
    return None


@rule(cause="client_http_pool")
def client_starves_the_server(
    log: ServerLog, benchmark: Benchmark | None, claim: Claim | None
) -> Outcome:
    """The client holds its requests back, so the server runs with a few where many are claimed."""
    lines = [n for n in log.decode if n.running is not None and not n.rank.startswith("DP")]
    peak = max((n.running or 0 for n in lines), default=0)
    told = claim.in_parallel if claim and claim.in_parallel else None
    if told and len(lines) >= 2 * LINES and 0 < peak * FEWER <= told:
        return _never_more(log, lines, peak, told)
    if len(lines) <= TAIL or peak < PEAK:
        return Cleared("no large load was seen to fall", (log,))
    tail = _tail(lines, peak)
    if len(tail) < TAIL:
        return Cleared("the load does not stay low", (log,))
    if any(n.queued or (n.usage or 0.0) > ONE_STREAM for n in tail):
        return Cleared("requests wait in the server, or its cache is in use", (log,))
    low = [n.running or 0 for n in tail]
    if all(after <= before for before, after in pairwise(low)):
        raise Undecided(
            f"the load falls from {peak} to {low[-1]} and never rises: the run may just be ending",
            settle="did the client still have prompts to send at that time?",
            suspicion=0.25,
        )
    claimed = benchmark.concurrency if benchmark else None
    many = f" while the client claims {claimed}" if claimed and claimed > 5 * max(low) else ""
    return Finding(
        f"Running requests fall from {peak} to between {min(low)} and {max(low)} and stay there,"
        f" with none queued and the cache empty{many}: new requests arrive one by one. The server"
        " is starved.",
        shown_by=(log,),
        confidence=0.85 if many else 0.7,
        slows=frozenset({"throughput", "decode", "ttft", "tail"}),
        quotes=(*quoted(lines[:1]), *quoted(tail[-1:])),
    )


def _never_more(log: ServerLog, lines: list[DecodeLine], peak: int, told: int) -> Outcome:
    """Judge a load that stays far below what is said to be sent."""
    if any(n.queued or (n.usage or 0.0) > HALF_FULL for n in lines):
        return Cleared("requests wait in the server, or its cache is in use", (log,))
    return Finding(
        f"At most {peak} requests run at once and none waits, in all {len(lines)} Decode lines,"
        f" while {told} are said to be sent in parallel: what sends them lets about {peak} through"
        " at a time (threads, connection pool, semaphore, proxy), or this is one server of several.",
        shown_by=(log,),
        confidence=0.7,
        slows=frozenset({"throughput", "decode", "ttft", "tail"}),
        remedy=(
            "Raise the number of workers, the connection pool or the semaphore of the client to"
            f" {told}, and look whether #running-req follows.",
        ),
        risk="none",
        verify=f"#running-req near {told} in the Decode lines, or #queue-req above 0",
        quotes=quoted(lines[-1:]),
    )


def _tail(lines: list[DecodeLine], peak: int) -> list[DecodeLine]:
    """Return the last lines, as far as they stay near nothing."""
    tail: list[DecodeLine] = []
    for line in reversed(lines):
        if (line.running or 0) > REST * peak:
            break
        tail.insert(0, line)
    return tail


RULES = (
    server_faster_than_client,
    client_queues_by_itself,
    client_waits_before_the_server,
    client_starves_the_server,
)
