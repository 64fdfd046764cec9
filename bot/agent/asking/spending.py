"""What models may cost: counted for one investigation and for the day, and held back in time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from bot.agent.asking.trouble import OverBudget
from bot.settings import Budgets
from tools.errors import ToolsError

_LOG = logging.getLogger("perfsleuth.agent")


class Ledger(Protocol):
    """Keeps the sums of a day, for all investigations and all processes together."""

    def take(self, day: str, tokens: int, usd: float) -> tuple[int, float]:
        """Add to the day (negative: give back) and return its sums after that, in one step.

        Raises ToolsError where it cannot.
        """


class MemoryLedger:
    """The sums of this process alone, for a command."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._days: dict[str, tuple[int, float]] = {}

    def take(self, day: str, tokens: int, usd: float) -> tuple[int, float]:
        """Add to the day and return its sums."""
        with self._guard:
            had_tokens, had_usd = self._days.get(day, (0, 0.0))
            self._days[day] = (had_tokens + tokens, had_usd + usd)
            return self._days[day]


class Hold:
    """What one ask may take at most, taken beforehand; `settle` gives back what it did not take."""

    def __init__(self, spending: Spending, day: str, tokens: int, usd: float) -> None:
        self._spending, self._day = spending, day
        self._tokens, self._usd = tokens, usd

    def settle(self, tokens: int, usd: float) -> None:
        """Say what it took in truth; only the first time counts."""
        self._spending.correct(self._day, tokens - self._tokens, usd - self._usd)
        self._tokens, self._usd = tokens, usd


class Spending:
    """Counts one investigation, and the day through its ledger.

    What an ask may take at most is held before it is asked and settled after, so that many
    investigations at once cannot pass the day's bound together.
    """

    def __init__(
        self,
        budgets: Budgets | None = None,
        ledger: Ledger | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.budgets = budgets or Budgets()
        self._ledger = ledger or MemoryLedger()
        self._now = now
        self._guard = threading.Lock()
        self.tokens = 0  # of this investigation, in and out
        self.usd = 0.0

    @property
    def left_tokens(self) -> int:
        """How many tokens this investigation may still take."""
        return max(0, self.budgets.tokens_per_investigation - self.tokens)

    def hold(self, tokens: int, usd: float) -> Hold:
        """Take so much beforehand; raise OverBudget, and take nothing, where a bound would be passed."""
        day = datetime.fromtimestamp(self._now(), UTC).date().isoformat()
        try:
            sums = self.book(day, tokens, usd)
        except ToolsError:
            self._count(-tokens, -usd)
            raise OverBudget("What models took today cannot be looked up.", away=True) from None
        if passed := self._passed(*sums):
            self.correct(day, -tokens, -usd)
            raise OverBudget(f"{passed} is used up.", away=True)
        return Hold(self, day, tokens, usd)

    def book(self, day: str, tokens: int, usd: float) -> tuple[int, float]:
        """Count so much; return the sums of the day."""
        self._count(tokens, usd)
        return self._ledger.take(day, tokens, usd)

    def correct(self, day: str, tokens: int, usd: float) -> None:
        """Count what was held too much or too little; a day that cannot be written keeps what was held."""
        try:
            self.book(day, tokens, usd)
        except ToolsError as why:
            _LOG.warning("what a model took is not written down: %s", why)

    def _count(self, tokens: int, usd: float) -> None:
        with self._guard:
            self.tokens += tokens
            self.usd += usd

    def _passed(self, day_tokens: int, day_usd: float) -> str:
        budgets = self.budgets
        bounds = (
            (
                self.tokens,
                budgets.tokens_per_investigation,
                "The model's budget for one investigation ({:,.0f} tokens)",
            ),
            (
                self.usd,
                budgets.usd_per_investigation,
                "The model's budget for one investigation (${:,.2f})",
            ),
            (day_tokens, budgets.tokens_per_day, "The models' budget for today ({:,.0f} tokens)"),
            (day_usd, budgets.usd_per_day, "The models' budget for today (${:,.2f})"),
        )
        return next(
            (text.format(most) for has, most, text in bounds if most is not None and has > most), ""
        )
