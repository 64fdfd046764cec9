"""The prefix cache: off, of no use to hybrid models, or only reported as useless."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from tools.engine import (
    Arguments,
    Benchmark,
    Launch,
    PrefillLine,
    Requests,
    ServerInfo,
    ServerLog,
    Traffic,
)
from tools.errors import Undecided
from tools.rule import Aspect, Cleared, Effect, Finding, Interval, Outcome, rule
from tools.sglang.spelling import mamba_strategy_flag

COST: Interval = (-95.0, -60.0, -20.0)  # prompt tokens read again / all prompt tokens of a chat
SLOWS: frozenset[Aspect] = frozenset({"prefill", "ttft"})
ENOUGH = 5  # cold prefills from which "never a hit" says something
REPEATED = 3  # prompts of one exact length
NO_GREETING = 64  # tokens; shorter prompts have nothing worth keeping
GROWS = 3  # prompts in a row, each longer than the one before: a chat


@rule(cause="prefix_cache_off")
def prefix_cache_disabled(
    log: ServerLog, launch: Launch | None, info: ServerInfo | None
) -> Outcome:
    """The prefix cache is off, so every turn of a chat is read again from its first token."""
    args, prefill = Arguments(launch, info, log), _cold_or_warm(log)
    if any(line.cached_tokens for line in prefill):
        hits = sum(line.cached_tokens or 0 for line in prefill)
        return Cleared(f"Prefill lines show {hits} cached tokens", (log,))
    if any(line.cache_hit for line in log.decode):
        return Cleared("the log shows a prefix cache hit rate above zero", (log,))
    asked = _off_flag(args)
    said = [notice.text for notice in log.said("radix_off")]
    if not (asked or said or args.on("disable_radix_cache")):
        return _no_reason(log, args, prefill)
    if not prefill:
        raise Undecided(
            "the prefix cache is off; no prompt was seen that would have used it",
            settle="read #new-token of the second turn of one chat",
            suspicion=0.3,
        )
    return _off(log, args, asked, said, prefill)


@rule(cause="hybrid_prefix_checkpoint")
def hybrid_repeats_never_hit(
    log: ServerLog, launch: Launch | None, info: ServerInfo | None
) -> Outcome:
    """A hybrid model keeps no state at the point where prompts agree, so repeats never hit."""
    args, prefill = Arguments(launch, info, log), _cold_or_warm(log)
    states = [n.mamba_usage for n in log.prefill] + [n.mamba_usage for n in log.decode]
    hybrid = any(usage is not None for usage in states)
    if not hybrid:
        return Cleared("the model keeps no recurrent state, as far as the log shows", (log,))
    if args.on("disable_radix_cache"):
        return Cleared("the prefix cache is switched off altogether", (log,))
    whole = [n for n in _unchunked(prefill, log.chunked_prefill) if n.new_seqs == 1]
    alike = Counter(n.new_tokens for n in whole if not n.cached_tokens)
    length, times = max(alike.items(), key=lambda item: item[1], default=(0, 0))
    if times < REPEATED or (length or 0) < NO_GREETING:
        if any(line.cached_tokens for line in prefill):
            return Cleared("Prefill lines show cached tokens", (log,))
        raise Undecided(
            "no prompt was seen twice",
            settle="send one prompt of 1000 tokens twice and read #cached-token of the second",
            suspicion=0.15,
        )
    return Finding(
        f"{times} prompts of {length} tokens each were read whole (#cached-token: 0) with the"
        " prefix cache on: a hybrid model can reuse a prefix only up to a saved state, and a"
        " repeat shorter than the interval between two of them has none.",
        shown_by=(log,),
        confidence=0.8,
        slows=SLOWS,
        effect=Effect(prefill_pct=COST, source="share of the prompts read again"),
        remedy=(f"{mamba_strategy_flag(args)}, or upgrade; longer shared prefixes do hit.",),
        verify="#cached-token above 0 on the second of two equal prompts",
        quotes=tuple(_quote(n) for n in prefill if n.new_tokens == length)[:2],
    )


@rule(cause="cached_tokens_metric_zero")
def hits_not_reported(
    log: ServerLog, benchmark: Benchmark | None, requests: Requests | None
) -> Outcome:
    """The API reports no cached tokens while the server's own lines show hits."""
    hits = [line for line in log.prefill if line.cached_tokens]
    zero_rate = benchmark is not None and benchmark.cache_hit_rate == 0
    zero_usage = requests is not None and requests.cached_tokens == 0
    if not (zero_rate or zero_usage):
        return Cleared("nobody reports zero cached tokens", (log,))
    if not hits:
        return Cleared("the server's lines show no hit either", (log,))
    most = max(line.cached_tokens or 0 for line in hits)
    return Finding(
        f"The client is told of 0 cached tokens, while {len(hits)} Prefill lines of the server"
        f" show hits of up to {most}: the cache works, the reported figure is wrong.",
        confidence=0.9,
        quotes=(*(("Cache Hit Rate: 0",) if zero_rate else ()), _quote(hits[-1])),
    )


def _cold_or_warm(log: ServerLog) -> tuple[PrefillLine, ...]:
    return tuple(n for n in Traffic(log).prefill if n.cached_tokens is not None)


def _unchunked(prefill: tuple[PrefillLine, ...], chunk: int | None) -> list[PrefillLine]:
    """Return the prompts that were read in one piece: chunks of one prompt are alike, too."""
    before = (None, *prefill)[: len(prefill)]
    return [
        line
        for last, line in zip(before, prefill, strict=True)
        if not line.pending and not (last and last.pending) and line.new_tokens != chunk
    ]


def _off_flag(args: Arguments) -> str:
    if args.asked_on("disable_radix_cache"):
        return "--disable-radix-cache"
    off = args.asked("enable_prefix_caching") is False or args.asked_on("no_enable_prefix_caching")
    return "--no-enable-prefix-caching" if off else ""


def _no_reason(log: ServerLog, args: Arguments, prefill: tuple[PrefillLine, ...]) -> Outcome:
    if args.dumped or args.seen:
        return Cleared("neither a flag nor the engine switches the prefix cache off", (log,))
    if len(prefill) < ENOUGH:
        raise Undecided("too few prompts were seen to tell", suspicion=0.05)
    raise Undecided(
        f"{len(prefill)} prompts and no cached token; whether the cache is off is not told",
        settle="disable_radix_cache in /server_info; one prompt sent twice",
        suspicion=0.25,
    )


def _off(
    log: ServerLog, args: Arguments, asked: str, said: list[str], prefill: tuple[PrefillLine, ...]
) -> Finding:
    read = sum(line.new_tokens or 0 for line in prefill)
    chat = _is_a_chat(prefill)
    who = asked or (f"the engine says: {said[0]}" if said else "disable_radix_cache=True")
    growing = ", and they grow from turn to turn as a chat does" if chat else ""
    return Finding(
        f"The prefix cache is off ({who}): {len(prefill)} prefill batches read {read:,} tokens and"
        f" reused none{growing}.",
        shown_by=(log,),
        confidence=0.9 if chat else 0.65,
        slows=SLOWS,
        effect=Effect(prefill_pct=COST, source="the share of prompt tokens read again, coarse"),
        remedy=(
            f"Remove {asked or '--disable-radix-cache'}.",
            *(
                (f"This hybrid model with speculation needs {mamba_strategy_flag(args)} for it.",)
                if args.speculative and any(line.mamba_usage is not None for line in log.prefill)
                else ()
            ),
        ),
        verify="#cached-token above 0 from the second turn on",
        quotes=(asked or (said[0] if said else "disable_radix_cache=True"), _quote(prefill[-1])),
    )


def _is_a_chat(prefill: tuple[PrefillLine, ...]) -> bool:
    """Say whether prompts grow again and again, as the turns of a chat do."""
    grown = 0
    for before, after in pairwise(prefill):
        longer = (after.new_tokens or 0) > (before.new_tokens or 0) >= NO_GREETING
        grown = grown + 1 if longer else 0
        if grown >= GROWS - 1:
            return True
    return False


def _quote(line: PrefillLine) -> str:
    stamp = f"[{line.at}] " if line.at else ""
    return (
        f"{stamp}Prefill batch, #new-token: {line.new_tokens}, #cached-token: {line.cached_tokens}"
    )


RULES = (prefix_cache_disabled, hybrid_repeats_never_hit, hits_not_reported)
