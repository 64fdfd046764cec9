"""Copies between GPUs that ran at the same time: what a switch does that no pair alone shows."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from tools.engine import Launch, ServerInfo, ServerLog, Trials
from tools.engine.parallel import tp_size
from tools.engine.trial import Together
from tools.errors import Undecided
from tools.rule import Cleared, Effect, Finding, Outcome, rule

COLLAPSE = 0.5  # of one copy alone: two that share a link fairly still reach its rate together
SHARED = 1.3  # of one copy alone: two that reach no more share one link
FREE = 1.6  # two that reach more go separate ways


@rule(cause="pcie_switch_arbitration")
def copies_collapse_together(trials: Trials) -> Outcome:
    """Copies that are fast alone collapse when two run at once.

    It has no price: which exchanges of an engine meet in the switch at once is not told.
    """
    alone, many = _alone(trials), _many(trials)
    fallen = [one for one in many if one.gb_s < COLLAPSE * alone]
    if not fallen:
        return Cleared(
            f"copies that run at once reach {min(one.gb_s for one in many):.4g} GB/s together, and"
            f" one alone {alone:.4g}",
            (trials,),
        )
    worst = min(fallen, key=lambda one: one.gb_s)
    well = max(many, key=lambda one: one.gb_s)
    better = (
        f" {_shown(well)} reach {well.gb_s:.4g} GB/s, so neither cards nor links are slow by"
        " themselves."
        if well.gb_s >= alone
        else ""
    )
    return Finding(
        f"One copy alone reaches {alone:.4g} GB/s, {_shown(worst)} together {worst.gb_s:.4g}: not a"
        f" shared link, which would give both a half, but a switch that collapses.{better}",
        shown_by=(trials,),
        confidence=0.85 if better else 0.7,
        slows=frozenset({"decode", "prefill", "ttft", "throughput"}),
        quotes=tuple(f"{_shown(one)}: {one.gb_s:g} GB/s" for one in (worst, well)),
    )


@rule(cause="pcie_upstream_bottleneck")
def copies_share_a_link(
    trials: Trials, launch: Launch | None, log: ServerLog | None, info: ServerInfo | None
) -> Outcome:
    """Two copies at once reach no more than one alone, because they share a link."""
    alone, many = _alone(trials), _many(trials)
    shared = [one for one in many if COLLAPSE * alone <= one.gb_s <= SHARED * alone]
    if not shared:
        return Cleared("copies that run at once do not halve each other", (trials,))
    free = any(one.gb_s >= FREE * alone for one in many)
    return Finding(
        f"{_shown(shared[0])} together reach {shared[0].gb_s:.4g} GB/s, one copy alone"
        f" {alone:.4g}: they share a link.",
        shown_by=(trials,),
        confidence=0.6 if free else 0.5,
        slows=frozenset({"prefill", "ttft", "throughput"}),
        effect=_effect(len(shared[0].pairs) * alone / shared[0].gb_s, tp_size(launch, log, info)),
        quotes=(f"{_shown(shared[0])}: {shared[0].gb_s:g} GB/s",),
    )


def _effect(times_slower: float, tp: int | None) -> Effect:
    """Price it where a group is large enough for copies at once: two GPUs are one pair."""
    return Effect.of_slow_link(times_slower, tp) if tp and tp > 2 else Effect()


def _alone(trials: Trials) -> float:
    rates = [one.gb_s for one in trials.together if len(one.pairs) == 1]
    if not rates or not any(len(one.pairs) > 1 for one in trials.together):
        raise Undecided("")  # no opinion: nothing tells of copies at once
    return median(rates)


def _many(trials: Trials) -> Sequence[Together]:
    return [one for one in trials.together if len(one.pairs) > 1]


def _shown(one: Together) -> str:
    sign = "<" if one.reads else ">"
    return " + ".join(f"GPU{source}{sign}GPU{target}" for source, target in one.pairs)


RULES = (copies_collapse_together, copies_share_a_link)
