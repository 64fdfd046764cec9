"""Figures that mislead: idle time in a rate, prefill in a rate, hidden tokens, shared batches."""

from __future__ import annotations

from collections import Counter
from statistics import median, median_high

from tools.engine import Claim, DecodeLine, Requests, ServerLog, Traffic
from tools.engine.traffic import quoted
from tools.errors import Undecided
from tools.rule import Cleared, Finding, Outcome, rule

LOW, SPREAD = 0.5, 0.2  # of the median; a steady stream swings less than a fifth
SEEN = 0.15  # share of the lines from which a swing is what a reader of the log notices
BELOW = 0.85  # a claim below this share of the log's rate counts something else
NEAR = 0.25  # a claim is the share of one request if it lies so near
PROBES = 3  # health probes without any request: nobody used the server
HIDDEN = 0.5  # share of the answer that nobody sees


@rule(cause="decode_window_includes_idle")
def rate_over_an_idle_gap(log: ServerLog) -> Outcome:
    """Low rates stand only on the first line after a gap, whose window holds idle time."""
    traffic = Traffic(log)
    if log.health_prefills >= PROBES and not (traffic.decode or traffic.prefill):
        return _probes_alone(log)
    gaps = [line for line in traffic.decode if line.after_gap and line.tok_s]
    steady = traffic.steady
    if not gaps or not steady:
        return Cleared("no line after a gap can be compared with a steady one", (log,))
    usual = _usual(steady)
    low = [n for n in gaps if (n.tok_s or 0.0) < LOW * usual.get(n.running or 0, 0.0)]
    if not low:
        return Cleared("lines after a gap show the usual rate", (log,))
    share = len(low) / len(traffic.decode)
    if share < SEEN:
        return Cleared(f"such lines are {share:.0%} of all: they are not what is seen", (log,))
    slow = [n for n in steady if (n.tok_s or 0.0) < (1 - SPREAD) * usual[n.running or 0]]
    if len(slow) > 0.1 * len(steady):
        return Cleared(f"{len(slow)} of {len(steady)} steady lines are slow as well", (log,))
    running = Counter(n.running or 0 for n in low).most_common(1)[0][0]
    same = [n for n in steady if n.running == running]
    follow = sorted(same, key=lambda n: abs((n.tok_s or 0.0) - usual[running]))[:1]
    lowest = min(n.tok_s or 0.0 for n in low if n.running == running)
    return Finding(
        f"{len(low)} low {'rates' if len(low) > 1 else 'rate'}, down to {lowest:.1f} tok/s,"
        f" {'stand' if len(low) > 1 else 'stands'} on the first Decode line after a prefill or a"
        f" pause, whose window holds idle time; the {len(same)} other lines with #running-req:"
        f" {running} show {usual[running]:.1f} tok/s in the median.",
        shown_by=(log,),
        confidence=0.9 if share >= 2 * SEEN else 0.75,
        slows=frozenset({"decode", "tail"}),
        remedy=("Nothing to repair: take the median of lines with an unchanged #running-req.",),
        benign=True,
        quotes=(*quoted(low[:1]), *quoted(follow)),
    )


def _probes_alone(log: ServerLog) -> Finding:
    return Finding(
        f"No request came in while this log was written: all {log.health_prefills} prefills are the"
        " one-token probes that GET /health sends. Their input throughput is one token over the"
        " pause between two probes, which is no speed.",
        shown_by=(log,),
        confidence=0.9,
        slows=frozenset({"prefill", "throughput"}),
        remedy=("Nothing to repair: judge the speed by lines that were written under requests.",),
        benign=True,
        quotes=(f"{log.health_prefills} x Prefill batch, #new-seq: 1, #new-token: 1",),
    )


@rule(cause="metric_includes_prefill")
def rate_by_stopwatch(log: ServerLog, claim: Claim) -> Outcome:
    """The rate was taken by stopwatch and holds the time before the first token."""
    told, traffic = claim.now_tok_s, Traffic(log)
    lines = traffic.at(1)
    if told is None or not lines:
        raise Undecided("no rate was told, or no single request was seen", suspicion=0.02)
    rate = median(line.tok_s or 0.0 for line in lines)
    if told >= BELOW * rate:
        return Cleared(f"the log's own rate of one request is {rate:.0f} tok/s", (log,))
    if told >= BELOW * min(line.tok_s or 0.0 for line in lines):
        return Cleared(f"the log itself shows such rates: {told:g} is no stopwatch's", (log,))
    cold = sum(line.new_tokens or 0 for line in traffic.prefill)
    if not cold:
        raise Undecided("no prompt was seen, whose time a stopwatch would count", suspicion=0.15)
    return Finding(
        f"The engine decodes one request at {rate:.0f} tok/s; {told:g} is what a stopwatch shows"
        f" when the prompt is counted too ({cold} prompt tokens were read in this log).",
        confidence=0.55,
        slows=frozenset({"decode", "ttft"}),
        quotes=quoted(lines[:1]),
    )


@rule(cause="concurrency_share")
def one_share_of_the_batch(log: ServerLog, claim: Claim) -> Outcome:
    """The rate is one request's share of a batch, whose total is higher."""
    told, traffic = claim.now_tok_s, Traffic(log)
    lines = traffic.steady
    if told is None or not lines:
        raise Undecided("no rate was told, or no steady line was seen", suspicion=0.02)
    usual = median_high(line.running or 0 for line in lines)  # of all: under load it changes
    total = median(line.tok_s or 0.0 for line in lines)
    each = median((line.tok_s or 0.0) / (line.running or 1) for line in lines)
    if usual < 2 or abs(each / told - 1) > NEAR:
        return Cleared(f"{usual} request(s) run at {total:.0f} tok/s together", (log,))
    if claim.for_each:
        return Cleared(f"each of {usual} requests gets {each:.0f} tok/s, as is said", (log,))
    alone = [line.tok_s or 0.0 for line in traffic.at(1)]
    if alone and total < median(alone):
        return Cleared("the total is not above the rate of one request alone", (log,))
    return Finding(
        f"{usual} requests run together at {total:.0f} tok/s, which is {each:.0f} tok/s for each.",
        shown_by=(log,),
        confidence=0.6,
        slows=frozenset({"decode"}),
        remedy=(
            "Nothing is broken: compare rates at the same number of requests at once.",
            "If each request must be faster: fewer at once for each server, which means more servers"
            " for the same load.",
        ),
        verify="gen throughput / #running-req in the Decode lines is the rate of one request",
        quotes=quoted(lines[-1:]),
    )


@rule(cause="hidden_reasoning_tokens")
def tokens_nobody_sees(requests: Requests) -> Outcome:
    """Most of what is generated is reasoning that the reader does not see."""
    hidden, total = requests.reasoning_tokens, requests.completion_tokens
    if not total:
        raise Undecided("no answer with its usage was seen")
    if hidden is None:
        raise Undecided(
            "the answer does not count reasoning tokens apart",
            settle="usage.completion_tokens_details.reasoning_tokens of one answer",
            suspicion=0.05,
        )
    if hidden < HIDDEN * total:
        return Cleared(f"{hidden} of {total} tokens are reasoning", (requests,))
    return Finding(
        f"{hidden} of {total} generated tokens are reasoning: the visible rate is"
        f" {1 - hidden / total:.0%} of the real one.",
        confidence=0.75,
        slows=frozenset({"decode", "ttft"}),
        quotes=(f"reasoning_tokens {hidden}, completion_tokens {total}",),
    )


def _usual(steady: tuple[DecodeLine, ...]) -> dict[int, float]:
    rates: dict[int, list[float]] = {}
    for line in steady:
        rates.setdefault(line.running or 0, []).append(line.tok_s or 0.0)
    return {running: median(found) for running, found in rates.items()}


RULES = (rate_over_an_idle_gap, rate_by_stopwatch, one_share_of_the_batch, tokens_nobody_sees)
