"""Figures that mislead: idle time in a rate, prefill in a rate, hidden tokens, shared batches."""

from __future__ import annotations

from statistics import median

from tools.engine import Claim, DecodeLine, Requests, ServerLog, Traffic
from tools.engine.traffic import quoted
from tools.errors import Undecided
from tools.rule import Cleared, Effect, Finding, Outcome, rule

LOW, SPREAD = 0.5, 0.2  # of the median; a steady stream swings less than a fifth
SEEN = 0.15  # share of the lines from which a swing is what a reader of the log notices
BELOW = 0.85  # a claim below this share of the log's rate counts something else
NEAR = 0.25  # a claim is the share of one request if it lies so near
HIDDEN = 0.5  # share of the answer that nobody sees


@rule(cause="decode_window_includes_idle")
def rate_over_an_idle_gap(log: ServerLog) -> Outcome:
    """Low rates stand only on the first line after a gap, whose window holds idle time."""
    traffic = Traffic(log)
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
    follow = [n for n in steady if n.running == low[0].running][:1]
    return Finding(
        f"The low rates ({len(low)}, down to {min(n.tok_s or 0 for n in low):.1f} tok/s) all stand"
        " on the first Decode line after a prefill or a pause: its window holds idle time. The"
        f" lines that follow show {usual[low[0].running or 0]:.0f} tok/s.",
        shown_by=(log,),
        confidence=0.9 if share >= 2 * SEEN else 0.75,
        slows=frozenset({"decode", "tail"}),
        benign=True,
        quotes=(*quoted(low[:1]), *quoted(follow)),
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
    lines = traffic.at(traffic.usual_running)
    if told is None or not lines:
        raise Undecided("no rate was told, or no steady line was seen", suspicion=0.02)
    running = traffic.usual_running
    total = median(line.tok_s or 0.0 for line in lines)
    if running < 2 or abs(total / running / told - 1) > NEAR:
        return Cleared(f"{running} request(s) run at {total:.0f} tok/s together", (log,))
    alone = [line.tok_s or 0.0 for line in traffic.at(1)]
    if alone and total < median(alone):
        return Cleared("the total is not above the rate of one request alone", (log,))
    return Finding(
        f"{running} requests run together at {total:.0f} tok/s, which is {total / running:.0f} for"
        " each.",
        shown_by=(log,),
        confidence=0.6,
        slows=frozenset({"decode"}),
        effect=Effect(source="gen throughput / #running-req"),
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
