"""The agent: what commands, work and Slack use of the models; there is none where none is configured."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Self

from bot.agent.asking.endpoint import Endpoint
from bot.agent.asking.model import Models
from bot.agent.asking.names import names_of
from bot.agent.asking.patient import Patient, never
from bot.agent.asking.spending import Ledger, MemoryLedger, Spending
from bot.agent.planning.planner import ModelPlanner
from bot.agent.prose import Explained, explain, follow_up
from bot.investigate import Judged
from bot.planner import Planner
from bot.question import Question
from bot.settings import Settings


class Agent:
    """Models for one investigation, with what they may cost.

    `Agent.of` makes the one of a process, whose connections and day's sums all share; `on` makes the
    one for an investigation, which counts for itself and knows the server that it is about.
    """

    def __init__(
        self, settings: Settings, endpoints: tuple[Endpoint, ...], ledger: Ledger, models: Models
    ) -> None:
        self._settings, self._endpoints, self._ledger = settings, endpoints, ledger
        self.models = models

    @classmethod
    def of(
        cls,
        settings: Settings,
        environ: Mapping[str, str] = os.environ,
        ledger: Ledger | None = None,
    ) -> Self | None:
        """Return the agent of the settings; None where no model is configured."""
        if not settings.models:
            return None
        endpoints = tuple(Endpoint(one, environ) for one in settings.models)
        ledger = ledger or MemoryLedger()
        spending = Spending(settings.budget, ledger)
        models = Models(settings.models, spending, environ, endpoints=endpoints)
        return cls(settings, endpoints, ledger, models)

    def on(self, host: str, port: int | None = None) -> Self:
        """Return the agent for one investigation of a host; `port` is its server's, where it is known."""
        spending = Spending(self._settings.budget, self._ledger)
        models = Models(
            self._settings.models,
            spending,
            diagnosed=(names_of(host, self._settings), port),
            endpoints=self._endpoints,
        )
        return type(self)(self._settings, self._endpoints, self._ledger, models)

    def planner(
        self,
        playbook: Planner,
        scope: Mapping[str, Any] | None = None,
        *,
        stopped: Callable[[], bool] = never,
        meanwhile: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> ModelPlanner:
        """Return the planner of one investigation: the playbook's looks, then what a model adds.

        `scope` is what is known of the host. `stopped` is looked at while a model is waited for,
        and `meanwhile` entered, so that others may work.
        """
        return ModelPlanner(
            playbook,
            Patient(self.models, stopped=stopped, meanwhile=meanwhile),
            scope=scope,
            budgets=self._settings.budget,
            notice=self.models.notice,
        )

    def explain(
        self,
        question: Question,
        end: Judged,
        planner: Planner | None = None,
        *,
        stopped: Callable[[], bool] = never,
        meanwhile: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> Explained:
        """Explain a verdict in checked sentences, with the ideas of whoever planned for it."""
        models = Patient(self.models, stopped=stopped, meanwhile=meanwhile)
        if not isinstance(planner, ModelPlanner):
            return explain(models, question, end)
        ideas = planner.ideas(end.evidence)
        return explain(
            models,
            question,
            end,
            computed=planner.computed,
            supposed=ideas,
            trouble=planner.trouble,
        )

    def follow_up(
        self,
        question: Question,
        end: Judged,
        asked: str,
        *,
        stopped: Callable[[], bool] = never,
        meanwhile: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> Explained:
        """Answer a free question of a thread in checked sentences; without lines where none stands."""
        models = Patient(self.models, stopped=stopped, meanwhile=meanwhile)
        return follow_up(models, question, end, asked)
