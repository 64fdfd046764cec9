"""What a campaign tries: what is predicted to help, how long it takes, and what is not worth a restart; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.investigate import Judged
from bot.proposal.predicted import predicted
from bot.proposal.remedy import remedies
from bot.proposal.wanted import Wanted
from tools.change import Change, Predicted, Proposal
from tools.change.keep_rule import Goal
from tools.engine import Launch, ServerInfo
from tools.known import Known
from tools.measure.load import LONGEST_S, Load

MOST = 6  # tries; more are no campaign but a search, which needs another kind of statistics
_CHUNKS = (
    2048,
    4096,
    8192,
    16384,
)  # sizes that SGLang itself chooses among, by memory (server_args.py)
_STARTS = 2  # of a try: with the change, and the old one again
START_S = 120.0  # until one was seen
_RUN_S = {
    "burst": float(Load().seconds) + 3,
    "repeated": float(LONGEST_S) + 3,
    "serving": 45.0,
}  # as they take; their limits are longer


def candidates(end: Judged, goal: Goal) -> Iterator[Wanted]:
    """Yield what could help: remedies of what was found, then sizes that the step model can weigh."""
    seen: list[Change] = []
    for wanted in (*remedies(end), *_by_physics(end, goal)):
        if wanted.change not in seen:
            seen.append(wanted.change)
            yield wanted.model_copy(update={"goal": goal})


def gain_of(told: Predicted, goal: Goal) -> tuple[float, float, float] | None:
    """Return what is predicted for a goal, in percent of the rate; None: nothing is."""
    return told.prefill_pct if goal in ("prefill", "ttft") else told.decode_pct


def worth(proposal: Proposal, goal: Goal) -> float:
    """Return by which a try is ranked: the middle of what is predicted, 0 where that is not known."""
    gain = gain_of(proposal.predicted, goal)
    return gain[1] if gain else 0.0


def hopeless(proposal: Proposal, goal: Goal) -> str:
    """Say why a change is not worth a restart; empty where it may help.

    A remedy of a finding without a figure may help; what the step model weighs must gain by it.
    """
    gain = gain_of(proposal.predicted, goal)
    if gain is not None and gain[2] <= proposal.keep.better_pct:
        return f"at best {gain[2]:+.1f} % is predicted, and {proposal.keep.better_pct:g} % is asked for"
    return ""


def takes_s(proposal: Proposal, start_s: float = START_S) -> float:
    """Return about how long one try takes."""
    return 2 * (proposal.repeats + 1) * _RUN_S[proposal.load] + _STARTS * start_s


def same_try(planned: Proposal, now: Proposal) -> bool:
    """Say whether a proposal that was made anew is the one that was approved, but for its server."""
    return _essence(planned) == _essence(now)


def _essence(one: Proposal) -> Sequence[object]:
    return (
        one.host, one.port, one.engine, one.version, one.model, one.change, one.launcher, one.load, one.repeats,
        one.keep, one.bounds.drain_s, one.bounds.silence_s, one.bounds.whole_s,
    )  # fmt: skip


def _by_physics(end: Judged, goal: Goal) -> Iterator[Wanted]:
    """Yield sizes of a prefill chunk that the step model predicts to be faster."""
    if goal not in ("prefill", "ttft"):
        return
    known = Known(end.evidence)
    info, launch = known.get(ServerInfo), known.get(Launch)
    values = (info.resolved if info else None) or (launch.flags if launch else None) or {}
    for size in _CHUNKS:
        change = Change(set={"chunked_prefill_size": size})
        told = predicted(change, known)
        if (
            size != values.get("chunked_prefill_size")
            and told.prefill_pct
            and told.prefill_pct[1] > 0
        ):
            yield Wanted(
                change=change, goal=goal, predicted=told, why="the step model weighs chunks"
            )
