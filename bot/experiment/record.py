"""How far an experiment is, and all that was learned by it: what outlives the bot's process."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from tools.change import Proposal, Status, Trouble

Phase = Literal[
    "approved",  # nothing was done yet
    "arming",  # the keeper is sent; it compares the host with what was approved
    "before",  # the old server is measured
    "draining",
    "stopping",
    "starting",
    "verifying",  # the new server answers: did the flags take effect?
    "after",  # the new server is measured
    "keeping",
    "restoring",
    "withdrawing",
    "kept",
    "restored",
    "withdrawn",
    "needs_person",
]
UNTOUCHED: frozenset[Phase] = frozenset({"approved", "arming", "before", "draining"})
OVER: frozenset[Phase] = frozenset({"kept", "restored", "withdrawn", "needs_person"})


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Measured(_Kept):
    """Runs of the same load on one server, without the first, which warmed it up.

    `figures` are one value a run, by name with its unit; `errors` counts requests that failed.
    """

    figures: dict[str, tuple[float, ...]] = {}
    runs: int = 0
    errors: int = 0
    trouble: str = ""  # why there are fewer runs than were asked for


class Proof(_Kept):
    """Whether one flag took effect: `True`, `False`, or `None` where nothing on the host tells it."""

    flag: str
    asked: str
    found: str = ""  # the value in effect, or the line of the log, as it was read
    source: str = ""  # "the log", "/server_info"
    effective: bool | None = None


class Judged(_Kept):
    """What the keep rule made of the two sets of runs: kept or not, and the sentence that says why."""

    kept: bool
    why: str
    gain_pct: tuple[float, float, float] | None = None  # of the goal, low to high; more is better
    smallest_pct: float | None = None  # the change of the goal that this many runs would have shown


class Record(_Kept):
    """One experiment. `phase` is written before its act is done; times are seconds since the epoch.

    `name` and `fence` are what the keeper on the host knows it by. `reason` says why it is taken
    back, and `trouble` what the host said of it.
    """

    run: int
    name: str
    fence: int
    phase: Phase = "approved"
    proposal: Proposal
    began_at: float
    phase_at: float = 0.0
    ended_at: float | None = None
    before: Measured | None = None
    after: Measured | None = None
    ready_after_s: float | None = None
    proofs: tuple[Proof, ...] = ()
    judged: Judged | None = None
    seen: Status | None = None  # what the keeper said when it was last written down
    reason: str = ""
    stop_by: str = ""
    trouble: Trouble | None = None
    log: tuple[str, ...] = ()  # the last lines of a server that did not come up, without secrets

    @property
    def over(self) -> bool:
        """Say whether nothing more will happen."""
        return self.phase in OVER

    @property
    def host_key(self) -> str:
        """Return the host and port, by which a lease is held."""
        return f"{self.proposal.host.lower()}:{self.proposal.port}"
