"""One case judged: what was concluded, whether an expert agrees, and what it took."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol

from bot.evaluation.bundle import Bundle


class Answer(Protocol):
    """What was concluded: a category, and the id of a cause if one was named."""

    @property
    def category(self) -> str:
        """Return the category."""

    @property
    def cause(self) -> str | None:
        """Return the cause."""


_FAULTS = ("hardware", "config", "software_bug")


@dataclass(frozen=True)
class Spent:
    """What a model took for one case. `usd` is None where no price is set."""

    turns: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float | None = None


@dataclass(frozen=True)
class Row:
    """One case judged in one way.

    `cause_right` is None where no cause is asked for. `wrong` are those of the case's `must_not`
    that were concluded. `kept` and `dropped` count the sentences of a model that were found in the
    evidence, and those that were not and so were never shown. `trouble` says why a command of
    others gave no verdict; the category is then empty.
    """

    case: str
    expected: str
    category: str
    cause: str | None
    right: bool
    cause_right: bool | None
    wrong: tuple[str, ...]
    undecided: bool
    seconds: float
    tool_calls: int = 0
    kept: int = 0
    dropped: int = 0
    ideas: int = 0
    spent: Spent = Spent()
    remarks: tuple[str, ...] = ()
    trouble: str = ""

    @classmethod
    def of(cls, bundle: Bundle, verdict: Answer, seconds: float, **more: Any) -> Row:
        """Compare a verdict with what the expert says."""
        told, accepted = bundle.expected, bundle.expected.accepted
        category, cause = verdict.category, verdict.cause
        honest = category == "inconclusive" and category in accepted and cause is None
        return cls(
            case=bundle.name,
            expected=told.category,
            category=category,
            cause=cause,
            right=category in accepted,
            cause_right=cause in told.causes if told.causes and not honest else None,
            wrong=tuple(one for one in (category, cause) if one in told.must_not),
            undecided=category == "inconclusive" and category not in accepted,
            seconds=seconds,
            **more,
        )

    @property
    def false_alarm(self) -> bool:
        """Say whether something healthy was called broken."""
        healthy = self.expected in ("no_fault", "at_ceiling")
        return healthy and not self.right and self.category in _FAULTS

    def as_json(self) -> dict[str, Any]:
        """Return the row as plain data."""
        return asdict(self)
