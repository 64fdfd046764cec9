"""The sums over all cases, as figures that can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bot.evaluation.row import Row


@dataclass(frozen=True)
class Summary:
    """All cases of one way of judging. Shares are 0 to 1; `usd` is None where no price is set.

    `causes` counts the cases in which a cause was asked for and named. `open_cases` are those that
    cannot be decided, `abstained` how many of them were answered so; `healthy` those without a
    fault, `false_alarms` how many of them were called broken; `silent` are cases without a verdict.
    """

    cases: int
    category: float
    cause: float
    causes: int
    must_not: int
    undecided: int
    open_cases: int
    abstained: int
    healthy: int
    false_alarms: int
    silent: int
    tool_calls: int
    turns: int
    tokens_in: int
    tokens_out: int
    usd: float | None
    seconds: float
    kept: int
    dropped: int
    ideas: int

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Summary:
        """Sum up."""
        named = [row.cause_right for row in rows if row.cause_right is not None]
        prices = [row.spent.usd for row in rows if row.spent.usd is not None]
        return cls(
            cases=len(rows),
            category=_share([row.right for row in rows]),
            cause=_share(named),
            causes=len(named),
            must_not=sum(bool(row.wrong) for row in rows),
            undecided=sum(row.undecided for row in rows),
            open_cases=sum(row.expected == "inconclusive" for row in rows),
            abstained=sum(row.expected == row.category == "inconclusive" for row in rows),
            healthy=sum(row.expected in ("no_fault", "at_ceiling") for row in rows),
            false_alarms=sum(row.false_alarm for row in rows),
            silent=sum(bool(row.trouble) for row in rows),
            tool_calls=sum(row.tool_calls for row in rows),
            turns=sum(row.spent.turns for row in rows),
            tokens_in=sum(row.spent.tokens_in for row in rows),
            tokens_out=sum(row.spent.tokens_out for row in rows),
            usd=sum(prices) if prices else None,
            seconds=sum(row.seconds for row in rows),
            kept=sum(row.kept for row in rows),
            dropped=sum(row.dropped for row in rows),
            ideas=sum(row.ideas for row in rows),
        )

    def as_json(self) -> dict[str, Any]:
        """Return the sums as plain data."""
        return asdict(self)


def _share(right: Sequence[bool]) -> float:
    return sum(right) / len(right) if right else 0.0
