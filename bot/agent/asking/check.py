"""What doctor says of each model: whether it answers, how fast, and whether it can call a tool."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from bot.agent.asking.model import Models
from bot.agent.asking.reply import Said
from bot.agent.asking.spending import Spending
from bot.agent.asking.trouble import ModelTrouble
from bot.narrator import Line
from bot.settings import Budgets, ModelSettings, Settings

_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "ready",
        "description": "Say that you are ready.",
        "parameters": {"type": "object", "properties": {}},
    },
}
_SYSTEM = "You are asked whether you work. Call the tool `ready`, and write nothing else."
_TOKENS = 512  # a model that thinks aloud must get to the call


def check(known: Settings, environ: Mapping[str, str]) -> list[Line]:
    """Put one small question to each model; it costs some hundred tokens."""
    lines = [_tried(one, environ) for one in known.models]
    bounds = known.budget
    money = f" and ${bounds.usd_per_day:,.2f}" if bounds.usd_per_day is not None else ""
    said = (
        f"models' budget: {bounds.tokens_per_investigation:,} tokens for an investigation, "
        f"{bounds.tokens_per_day:,} tokens{money} a day"
    )
    return [*lines, Line("said", said)]


def _tried(one: ModelSettings, environ: Mapping[str, str]) -> Line:
    models = Models([one], Spending(Budgets(usd_per_investigation=None)), environ)
    started = time.monotonic()
    try:
        reply = models.ask(
            _SYSTEM, [Said("user", "Are you ready?")], [_TOOL], max_output_tokens=_TOKENS
        )
    except ModelTrouble as why:
        return Line("trouble", f"model: {why}")
    took = f"model: {one.name} answers in {time.monotonic() - started:.1f} s"
    if any(call.name == "ready" for call in reply.calls):
        return Line("look", f"{took} and calls tools")
    return Line(
        "trouble",
        f"{took}, but called no tool when told to: it can explain, and hardly plan; "
        "SGLang needs --tool-call-parser for that",
    )
