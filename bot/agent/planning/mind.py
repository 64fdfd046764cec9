"""One planning model at work: its turns, the time it has left, and what it was given and said."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import prompts
from bot.agent.asking.patient import Patient
from bot.agent.asking.reply import Reply, Said
from bot.agent.asking.trouble import ModelTrouble, TooLong
from bot.agent.exchange import Exchange
from bot.agent.planning import toolbox
from bot.agent.planning.calls import Done
from bot.agent.planning.conversation import Conversation, Turn
from bot.agent.planning.fence import Fence
from bot.settings import Budgets

PLANNING_S = 100.0  # all answers together; a person waits


class Mind:
    """Asks one turn after the other. `turns` counts them, and `left_s` is the time for the rest."""

    def __init__(self, models: Patient, budgets: Budgets, fence: Fence) -> None:
        self.exchanges: list[Exchange] = []
        self.turns = 0
        self.left_s = PLANNING_S
        self._models, self._budgets, self._fence = models, budgets, fence
        self._talk = Conversation(fence)
        self._tools: list[dict[str, Any]] | None = None

    def add(self, turn: Turn) -> None:
        """Go on from this turn."""
        self._talk.add(turn)

    def ask(self, briefing: str, done: Done) -> Reply:
        """Put one turn; raise ModelTrouble. A text that is too long for the model is shortened once."""
        self.turns += 1
        try:
            return self._asked(briefing, done)
        except TooLong:
            self._talk.forget()
        return self._asked(briefing, done)

    def _asked(self, briefing: str, done: Done) -> Reply:
        """Ask once, and keep what was given and said."""
        turns = self._budgets.turns - self.turns + 1
        calls = max(self._budgets.tool_calls - done.calls, 0)
        given = self._talk.messages(briefing, turns, calls)
        if self._tools is None:
            self._tools = toolbox.tools(done.looks)
        began = time.monotonic()
        try:
            reply = self._models.ask(self._system(), given, self._tools, within_s=self.left_s)
        except ModelTrouble as why:
            self._keep(given, None, str(why))
            raise
        finally:
            self.left_s -= time.monotonic() - began
        self._keep(given, reply, "")
        return reply

    def _system(self) -> str:
        return prompts.load(
            "planner",
            turns=self._budgets.turns,
            calls=self._budgets.tool_calls,
            boundary=self._fence.boundary,
        )

    def _keep(self, given: Sequence[Said], reply: Reply | None, trouble: str) -> None:
        words = f"planner {prompts.version('planner')}"
        self.exchanges.append(Exchange("plan", words, tuple(given), reply, trouble))
