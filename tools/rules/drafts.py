"""Drafts of speculative decoding: missing, broken, too many, and what a claimed rate would need."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from tools.engine import (
    Arguments,
    Benchmark,
    Claim,
    DecodeLine,
    Launch,
    ServerInfo,
    ServerLog,
    Traffic,
)
from tools.engine.traffic import quoted, step_ms
from tools.errors import Undecided
from tools.linux.machine import Machine
from tools.rule import Cleared, Effect, Finding, Interval, Outcome, rule

BROKEN = 1.3  # accept length below which drafts cost more than they bring, on any text
WIDE_TREE = 16  # draft tokens of one request from which verification rules the step under load
CROWD = 4  # requests decoded together
FALL = 0.12  # fall of the accept length that matters
SAME_STEP = 0.05  # change of the step that is noise
NINE = 9  # lines needed to compare the first third with the last


@rule(cause="draft_head_broken")
def drafts_never_accepted(
    log: ServerLog, launch: Launch | None, info: ServerInfo | None, benchmark: Benchmark | None
) -> Outcome:
    """The draft proposes nothing that the model accepts."""
    args, traffic = Arguments(launch, info, log), Traffic(log)
    length = traffic.accept_len
    if length is None:
        length = (benchmark.accept_len if benchmark else None) or (
            info.accept_len if info else None
        )
    if length is None:
        if args.speculative:
            raise Undecided(
                "speculation is on, and no accept length was seen",
                settle="read 'accept len' in the Decode lines, or avg_spec_accept_length",
                suspicion=0.15,
            )
        return Cleared("there is no speculation")
    if length >= BROKEN:
        return Cleared(f"drafts are accepted: the accept length is {length:.2f}", (log,))
    own = str(args.value("draft") or "")
    return Finding(
        f"The accept length is {length:.2f}, so almost no draft is accepted; each step still pays"
        " for drafting and for checking the drafts.",
        confidence=0.88,
        slows=frozenset({"decode", "throughput"}),
        effect=Effect(
            decode_pct=(-75.0, -55.0, -30.0), source="accept length against the usual 2.5 to 3.5"
        ),
        category="config" if own else "software_bug",
        remedy=(
            f"Use the draft that was trained for this very model and template (now {own})."
            if own
            else "Use a checkpoint whose MTP layer is not quantised, or load it unquantised.",
            "Until then serve without speculation: it is faster than this.",
        ),
        verify="accept len above 2.5 on plain text",
        quotes=quoted(traffic.decode[:2]),
    )


@rule(cause="spec_params_poor")
def too_many_drafts(
    log: ServerLog, launch: Launch | None, info: ServerInfo | None, benchmark: Benchmark | None
) -> Outcome:
    """The draft tree is wider than the load bears."""
    args, traffic = Arguments(launch, info, log), Traffic(log)
    tokens, topk = (args.count(f"speculative_{n}") for n in ("num_draft_tokens", "eagle_topk"))
    steps, length = args.count("speculative_num_steps"), traffic.accept_len
    if not args.speculative and length is None:
        return Cleared("there is no speculation")
    if tokens is None:
        raise Undecided("the number of draft tokens is not told", suspicion=0.05)
    client = (benchmark.concurrency if benchmark else None) or 0
    load = max(traffic.most_running, client)
    if tokens >= WIDE_TREE and (topk or 1) > 1 and load >= CROWD:
        return _wide(args, tokens, load)
    if length is not None and length < BROKEN:
        return Cleared("drafts are not accepted at all, which is judged apart")
    if length is None or steps is None or length >= 0.5 * (steps + 1):
        return Cleared("accepted drafts are in proportion to those proposed", (log,))
    raise Undecided(
        f"accept length {length:.2f} of at most {steps + 1}: fewer steps may be faster",
        settle=f"A/B with --speculative-num-steps {max(1, round(length))}, same prompts",
        suspicion=0.2,
    )


@rule(cause="draft_model_missing")
def draft_model_not_running(
    launch: Launch, log: ServerLog, info: ServerInfo | None, machine: Machine | None
) -> Outcome:
    """A draft was asked for, and the running engine has none."""
    args = Arguments(launch, info, log)
    asked = args.asked("draft") or args.asked("speculative_algorithm")
    if not asked:
        return Cleared("nobody asked for speculation", (launch,))
    if Traffic(log).accept_len is not None or any(n.accept_len for n in log.decode):
        return Cleared("the log shows accept lengths: drafts are in use", (log,))
    resolved = Arguments(None, info, log)
    if resolved.dumped and resolved.speculative:
        return Cleared("the running engine has speculation switched on", (log,))
    gone = [path for path in machine.missing_paths if path in str(asked)] if machine else []
    if not (gone or (resolved.dumped and log.decode)):
        raise Undecided(
            "speculation was asked for; whether it runs is not told",
            settle="look for speculative_config or accept lengths in the running engine's log",
            suspicion=0.3,
        )
    why = f" {gone[0]} does not exist." if gone else ""
    return Finding(
        "A draft was asked for, and the running engine has none: no accept length in its"
        f" log.{why}",
        confidence=0.92 if gone else 0.8,
        slows=frozenset({"decode", "throughput"}),
        effect=Effect(decode_pct=(-80.0, -65.0, -40.0), source="the accept length that is lost"),
        quotes=tuple(f"{path}: No such file or directory" for path in gone) or (str(asked)[:200],),
    )


@rule(cause="acceptance_drop")
def acceptance_fell(log: ServerLog, claim: Claim | None, info: ServerInfo | None) -> Outcome:
    """The rate follows the accept length, and so the text, at an unchanged step time."""
    traffic = Traffic(log)
    if traffic.accept_len is None:
        seen = any(line.accept_len for line in log.decode)
        return Cleared(
            "too few lines tell the accept length" if seen else "there is no speculation"
        )
    if finding := _within(log, traffic):
        return finding
    if claim and claim.before_tok_s and traffic.usual_running == 1:
        return _needed(traffic, claim.before_tok_s, Arguments(None, info, log))
    return Cleared(f"the accept length stays near {traffic.accept_len:.2f}", (log,))


def _wide(args: Arguments, tokens: int, load: int) -> Finding:
    cost: Interval = (-40.0, -20.0, -5.0)
    return Finding(
        f"Each request verifies a tree of {tokens} draft tokens; with {load} requests that is"
        f" {tokens * load} tokens for each step, far beyond what memory reads hide.",
        confidence=0.6,
        slows=frozenset({"decode", "throughput"}),
        effect=Effect(decode_pct=cost, source="own estimate; an A/B decides"),
        verify="tok/s by A/B on the same prompts at the same concurrency",
        quotes=args.flags(
            "speculative_num_steps", "speculative_eagle_topk", "speculative_num_draft_tokens"
        ),
    )


def _within(log: ServerLog, traffic: Traffic) -> Finding | None:
    """Compare lines at one load: the first third with the last, else the fastest with the slowest."""
    lines = [n for n in traffic.at(traffic.usual_running) if n.accept_len and step_ms(n)]
    if len(lines) < NINE:
        return None
    by_rate = sorted(lines, key=lambda line: -(line.tok_s or 0.0))
    for order, how in ((lines, "fell"), (by_rate, "swings")):
        third = len(order) // 3
        if finding := _compared(log, order[:third], order[-third:], how):
            return finding
    return None


def _compared(
    log: ServerLog, fast: Sequence[DecodeLine], slow: Sequence[DecodeLine], how: str
) -> Finding | None:
    before, now = (median(n.accept_len or 0.0 for n in part) for part in (fast, slow))
    steps = [median(step_ms(n) or 0.0 for n in part) for part in (fast, slow)]
    if now > before * (1 - FALL) or abs(steps[1] / steps[0] - 1) > SAME_STEP:
        return None
    loss = (now / before - 1) * 100
    return Finding(
        f"The accept length {how} from {before:.2f} to {now:.2f} while the step stays at"
        f" {steps[0]:.1f} to {steps[1]:.1f} ms: some text is harder to draft, nothing else"
        " differs.",
        shown_by=(log,),
        confidence=0.8 if how == "fell" else 0.7,
        slows=frozenset({"decode"}),
        effect=Effect(decode_pct=(loss - 3, loss, min(0.0, loss + 3)), source="the Decode lines"),
        quotes=(*quoted(fast[:1]), *quoted(slow[-1:])),
    )


def _needed(traffic: Traffic, claimed: float, args: Arguments) -> Outcome:
    """Say which accept length a claimed rate needs at the step that was measured."""
    step, length = traffic.step(1), traffic.accept_len or 1.0
    steps = args.count("speculative_num_steps")
    if step is None:
        raise Undecided("too few lines of a single request to know the step", suspicion=0.1)
    need = claimed * step / 1000
    if need <= length * (1 + SAME_STEP):
        return Cleared(f"{claimed:g} tok/s needs no better drafts than today's {length:.2f}")
    asked = (
        f"{claimed:g} tok/s at today's step of {step:.1f} ms needs an accept length of {need:.2f}"
    )
    if steps and need > steps + 1:
        return Cleared(f"{asked}, and {steps + 1} are the most: drafts alone cannot explain it")
    raise Undecided(
        f"{asked}{f' of at most {steps + 1}' if steps else ''}; the log shows {length:.2f}: easier"
        " text then, or another way of counting, would explain it",
        settle="the same prompt and seed as then, and the accept length beside the rate",
        suspicion=0.25,
    )


RULES = (drafts_never_accepted, too_many_drafts, draft_model_not_running, acceptance_fell)
