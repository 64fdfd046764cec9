"""The rules of a campaign: what comes next, what is left out, and why it ends; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.experiment.record import Record
from bot.narrator.proposed import written as told
from bot.tuning.plan import START_S, hopeless, same_try, takes_s
from tools.change import Plan, Proposal

_ENDS = {
    "kept": "kept",
    "restored": "taken back",
    "withdrawn": "not begun",
    "needs_person": "needs a person",
}
LEFT_OUT = "left out"
_NOTHING_LEFT = "Nothing that is predicted to help is left."


@dataclass(frozen=True)
class Try:
    """One line of the ledger: what was tried, what was predicted, how it ended, and why."""

    proposal: Proposal
    end: str
    why: str
    record: Record | None = None
    took_s: float = 0.0

    @property
    def change(self) -> str:
        """Write the change as people type it."""
        return told(self.proposal.change)

    @classmethod
    def of(cls, record: Record) -> Try:
        """Return the line that an experiment makes, once it is over."""
        kept = record.judged if record.phase == "kept" else None
        said = kept.why if kept else record.reason
        took_s = (record.ended_at or record.began_at) - record.began_at
        return cls(record.proposal, _ENDS[record.phase], said, record, took_s)


def ended(plan: Plan, tries: Sequence[Try], spent_s: float) -> str:
    """Say why nothing more is tried; empty: the next one of the plan comes.

    The budget is over, nothing is left, somebody stopped it, a person is needed, or which server the
    last one left is not known.
    """
    if tries and (why := _stays(tries[-1].record)):
        return why
    if len(tries) >= len(plan.proposals):
        return _NOTHING_LEFT
    if tries and _unknown(tries[-1].record):
        return "Which server runs now was not told, so nothing more is tried."
    left_s = plan.budget_s - spent_s
    if left_s < takes_s(plan.proposals[len(tries)], _start_s(tries)):
        return f"The budget is over: {max(left_s, 0) / 60:.0f} minutes are too few for one more."
    return ""


def left_out(plan: Plan, tries: Sequence[Try], proposal: Proposal) -> str:
    """Say why the next change is not tried on the server as it is now; empty: it is what was approved.

    `proposal` is made anew on that server.
    """
    if not same_try(plan.proposals[len(tries)], proposal):
        return "the server is another one than when this was approved"
    if proposal.identity.digest != _digest(plan, tries):
        return "the server was changed by somebody else meanwhile"
    return hopeless(proposal, plan.goal)


def _stays(record: Record | None) -> str:
    """Say why no other change may follow this one."""
    if record is None:
        return ""
    if record.phase == "needs_person":
        return "A person is needed before anything more is tried."
    if record.stop_by:
        return f"Stopped by {record.stop_by}."
    return ""


def _unknown(record: Record | None) -> bool:
    """Say whether a change was kept, and which server runs with it was not told."""
    if record is None or record.phase != "kept":
        return False
    return not (record.seen and record.seen.new and record.seen.new.digest)


def _start_s(tries: Sequence[Try]) -> float:
    """Return how long the last start took, or about as long as one may take."""
    records = [one.record for one in reversed(tries) if one.record]
    return next((one.ready_after_s for one in records if one.ready_after_s), START_S)


def _digest(plan: Plan, tries: Sequence[Try]) -> str:
    """Return the digest of the server that the last kept change left, or that was approved."""
    for one in reversed(tries):
        seen = one.record.seen if one.record and one.record.phase == "kept" else None
        if seen and seen.new and seen.new.digest:
            return seen.new.digest
    return plan.proposals[0].identity.digest
