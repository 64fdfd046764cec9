"""Who helps with a run: an agent of its own, where a model is configured; else nothing is imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bot.settings import Settings
from bot.store import Store

if TYPE_CHECKING:
    from bot.agent.agent import Agent

Agents = Callable[[str, "int | None"], "Agent | None"]


def nobody(_host: str, _port: int | None) -> None:
    """No model helps."""


def agents_of(settings: Settings, store: Store) -> Agents:
    """Return who makes an agent for each run, by host and port of what it is about.

    They share connections and the day's sums, which all processes keep in the store.
    """
    if not settings.models:
        return nobody
    from bot.agent.agent import Agent

    agent = Agent.of(settings, ledger=store.ledger)
    return agent.on if agent else nobody
