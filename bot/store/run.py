"""One piece of accepted work: an investigation, files, a follow-up, a proposal, an experiment, a plan, a sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RunKind = Literal[
    "host", "files", "followup", "proposal", "experiment", "sweep",
    "plan",  # makes a plan of changes, and shows it
    "campaign",  # one step of a plan that was approved: it begins the next change, or tells the ledger
]  # fmt: skip
RunState = Literal["waiting", "joined", "running", "done", "stopped", "failed"]
# What waits for the end of another run and has its own turn then; others that join share its end.
WAITS: tuple[RunKind, ...] = ("followup", "campaign")
ENDED: tuple[RunState, ...] = ("done", "stopped", "failed")


@dataclass(frozen=True)
class Run:
    """What was accepted, and how far it is. Times are seconds since the epoch.

    `key` is unique: the same message never becomes two runs. `message` is the JSON of the message
    that asked. `joins` is the run whose looks it waits for; `about` the earlier run of its thread
    that a follow-up, or a check again, refers to. `stop_by` is who asked it to stop. `restarts`
    counts how often it was begun anew. `category` and `headline` are what was said at the end.
    """

    id: int
    key: str
    kind: RunKind
    state: RunState
    host: str | None
    port: int | None
    channel: str
    thread: str
    user: str
    text: str
    message: str
    asked_at: float
    began_at: float | None = None
    ended_at: float | None = None
    joins: int | None = None
    about: int | None = None
    stop_by: str | None = None
    restarts: int = 0
    category: str | None = None
    headline: str | None = None

    @property
    def ended(self) -> bool:
        """Say whether nothing more will happen to it."""
        return self.state in ENDED
