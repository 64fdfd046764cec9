"""How far a campaign is: what each step hands on to the next one, in the run that waits for it."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.store import Run, Store
from bot.tuning.campaign import LEFT_OUT, Try
from tools.change import Plan, Proposal
from tools.errors import ToolsError

_NOT_BEGUN = "not begun"


class Entry(BaseModel):
    """What became of one change of the plan: the run that tried it, or why it was left out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: int | None = None
    why: str = ""


class SoFar(BaseModel):
    """The plan by the number of its offer, since when it is carried out, and a line for each change so far.

    `began_at` is in seconds since the epoch.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    offer: int
    began_at: float
    entries: tuple[Entry, ...] = ()

    @classmethod
    def of(cls, run: Run, store: Store) -> Self:
        """Read it from a step; the first step has what its approval says. Raises ToolsError."""
        if not run.message:
            offer = store.proposals.of_experiment(run.id)
            if offer is None:
                raise ToolsError("There is no plan that was approved for this")
            return cls(offer=offer.id, began_at=run.asked_at)
        try:
            return cls.model_validate_json(run.message)
        except ValidationError:
            raise ToolsError(
                "Another version wrote down how far this plan is, and I cannot read it"
            ) from None

    def and_then(self, entry: Entry) -> Self:
        """Return it with one more line."""
        return self.model_copy(update={"entries": (*self.entries, entry)})

    def tries(self, plan: Plan, store: Store) -> list[Try]:
        """Return the lines of the ledger, each by the books of its experiment."""
        pairs = zip(plan.proposals, self.entries, strict=False)
        return [_try(store, planned, entry) for planned, entry in pairs]

    def last(self, store: Store) -> Run | None:
        """Return the experiment that ended last."""
        entry = self.entries[-1] if self.entries else Entry()
        return store.runs.get(entry.run) if entry.run else None


def _try(store: Store, planned: Proposal, entry: Entry) -> Try:
    if entry.run is None:
        return Try(planned, LEFT_OUT, entry.why)
    record = store.experiments.load(entry.run)
    if record is None or not record.over:
        return Try(planned, _NOT_BEGUN, "it could not be begun, as was told in the thread")
    return Try.of(record)
