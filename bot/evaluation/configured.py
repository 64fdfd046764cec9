"""The configured models, as who speaks in one case: they begin each afresh, and are counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bot.evaluation.judged import NAME, Prose
from bot.evaluation.row import Spent
from bot.investigate import Judged
from bot.planner import Planner
from bot.question import Question
from bot.settings import ModelSettings

if TYPE_CHECKING:
    from bot.agent.agent import Agent
    from bot.agent.exchange import Exchange
    from bot.agent.planning.planner import ModelPlanner


class Configured:
    """One case. Money is counted where every model has a price."""

    def __init__(self, agent: Agent, models: Sequence[ModelSettings]) -> None:
        self._agent, self._priced = agent.on(NAME), all(one.priced for one in models)
        self._planner: ModelPlanner | None = None
        self._explained: Sequence[Exchange] = ()

    def planner(self, playbook: Planner, scope: Mapping[str, Any]) -> Planner:
        """Return the planner that the command and the bot use."""
        self._planner = self._agent.planner(playbook, scope)
        return self._planner

    def explain(self, question: Question, end: Judged) -> Prose:
        """Put the verdict into prose as the command and the bot do."""
        told = self._agent.explain(question, end, self._planner)
        self._explained = told.exchanges
        return told

    def spent(self) -> Spent:
        """Return what was taken so far."""
        planned = self._planner.exchanges if self._planner else []
        replies = [one.reply for one in (*planned, *self._explained) if one.reply is not None]
        return Spent(
            turns=len(planned) + len(self._explained),
            tokens_in=sum(one.tokens_in for one in replies),
            tokens_out=sum(one.tokens_out for one in replies),
            usd=self._agent.models.spending.usd if self._priced else None,
        )


def speakers(agent: Agent, models: Sequence[ModelSettings]) -> Callable[[], Configured]:
    """Return who makes a speaker for each case."""
    return lambda: Configured(agent, models)
