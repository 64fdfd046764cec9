"""What an experiment does on a host: the keeper's verbs, one run of load, what is in effect, what runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.experiment.record import Proof, Record
from tools.change import Identity, Proposal, Status


class Keeper(Protocol):
    """The keeper on the host, as one experiment speaks to it; every verb may be repeated.

    Raises HostError where the host does not answer, and ToolsError where the keeper refuses.
    """

    def begin(self, proposal: Proposal, name: str, fence: int, /) -> Status:
        """Send it, or find it there; it compares the host with what was approved."""

    def status(self) -> Status | None:
        """Return how far it is; None: no keeper answers on this host."""

    def drain(self, bound_s: float, /) -> Status:
        """Wait until no request runs, or so long."""

    def stop(self) -> Status:
        """End the old server."""

    def start(self) -> Status:
        """Start the new one, and see that it answers."""

    def keep(self) -> Status:
        """Leave the new one for good."""

    def restore(self) -> Status:
        """Bring the old one back."""

    def withdraw(self) -> Status:
        """Go away; only where nothing was touched."""

    def dismiss(self) -> object:
        """Let it leave, once its end is written down."""

    def log(self, max_lines: int = 40, /) -> Sequence[str]:
        """Return the last lines of the server it started, without secrets."""


@dataclass(frozen=True)
class Run:
    """One run of the load: its figures by name with their unit, or why there are none.

    `busy`: others used the server, so it may be tried again. `errors` counts requests that failed.
    """

    figures: dict[str, float]
    errors: int = 0
    trouble: str = ""
    busy: bool = False


class Hands(Protocol):
    """All that reaches the host. Raises HostError where it does not answer."""

    def keeper(self, record: Record, /) -> Keeper:
        """Return the keeper as this experiment and its fence speak to it."""

    def longest_s(self, proposal: Proposal, /) -> float:
        """Return how long one run may take; the keeper hears nothing of us meanwhile."""

    def run(self, proposal: Proposal, /) -> Run:
        """Put the load of the proposal on the server once."""

    def effects(self, record: Record, /) -> Sequence[Proof]:
        """Say of each flag that is changed what is in effect now."""

    def close(self) -> None:
        """End a run of load that is on, at once and from any thread."""

    def running(self, proposal: Proposal, /) -> Identity | None:
        """Return which server owns the port; None: none does."""
