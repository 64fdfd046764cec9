"""What an experiment needs written down: its approval, its phases, the lease of its host, earlier results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.experiment.record import Record
from tools.change import Proposal
from tools.errors import ToolsError


class Held(ToolsError):
    """Another experiment has the lease of this host; the sentence says which, and since when."""


class Overtaken(ToolsError):
    """Another process has taken this experiment up meanwhile: this one must do nothing more."""


class Unwritten(ToolsError):
    """The books could not be written; `why` is what they raised. Nothing was done on the host."""

    def __init__(self, why: ToolsError) -> None:
        super().__init__(str(why))
        self.why = why


@dataclass(frozen=True)
class Approved:
    """What a person approved. `digest` is what they saw; `by` is their id; `at` in epoch seconds."""

    proposal: Proposal
    digest: str
    by: str
    at: float


@dataclass(frozen=True)
class Said:
    """What came of one phase, as it was told, in order; `at` in epoch seconds, `ill`: it failed."""

    at: float
    phase: str
    text: str
    took_s: float | None = None
    ill: bool = False


class Books(Protocol):
    """Sync and thread-safe. Every method raises a ToolsError where it cannot be read or written now."""

    def approved(self, run: int, /) -> Approved | None:
        """Return what this run was accepted for; None: nothing that is approved."""

    def take(self, host: str, port: int, run: int, /) -> int:
        """Take the host's lease for a run, and return its fence, which grows with every take.

        The same run takes it again at any moment: each process that takes a run up has a higher
        fence than those before it. Raises Held where another run has it that did not give it back.
        """

    def give_back(self, host: str, port: int, run: int, /) -> None:
        """Give the lease back. Nothing happens where another run has it."""

    def load(self, run: int, /) -> Record | None:
        """Return the record as it was saved last; None: it was never begun."""

    def save(self, record: Record, said: Sequence[Said] = (), /) -> None:
        """Write record and steps in one transaction.

        Raises Overtaken where a record of a higher fence was saved, or the lease has a higher one.
        """

    def said(self, run: int, /) -> Sequence[Said]:
        """Return all steps of a run, in order."""

    def results(self, host: str | None, model: str | None, limit: int, /) -> Sequence[Record]:
        """Return the newest ended experiments, newest first; None: of any host, of any model.

        Version and engine are in `record.proposal`; who asks picks.
        """
