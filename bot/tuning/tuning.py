"""The wish to tune a server: for which goal, and how long it may take; read from words and from options."""

from __future__ import annotations

import re
from typing import get_args

from pydantic import BaseModel, ConfigDict, Field

from tools.change.keep_rule import Goal
from tools.errors import ToolsError

HOUR_S = 3600.0
LONGEST_S = 24 * HOUR_S
_UNITS_S = {"m": 60.0, "h": HOUR_S}
_TUNE = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|yes|please|pls|now|then|so|and|let'?s|(?:can|could|would|will) you|go ahead(?: and)?"
    r"|start to|begin to)[\s,]+)*(?:auto-?)?tune\b(?!\s+(?:in|out)\b)",
    re.IGNORECASE,
)
_GOALS: tuple[tuple[str, Goal], ...] = (
    (r"\bttft\b|first token|latency", "ttft"),
    (r"\bprefill\b|long prompts", "prefill"),
    (r"\bthroughput\b|total tokens", "throughput"),
    (r"\bdecod|tokens? (?:per|a) second|tok/s", "decode"),
)
_NUMBERS = {"a": 1.0, "an": 1.0, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "half an": 0.5}
_BUDGET = re.compile(
    r"(?<![\w.:])(?P<number>\d{1,4}(?:[.,]\d{1,2})?|half an|an?|one|two|three|four)"
    r"(?P<half>\s+and a half)?\s*-?(?P<unit>hours?|hrs?|h|minutes?|mins?|m)\b(?P<more>\s+and a half)?",
    re.IGNORECASE,
)


class Tuning(BaseModel):
    """What is to become better, and the seconds that it may take in all; of a host named elsewhere."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    goal: Goal = "decode"
    budget_s: float = Field(HOUR_S, gt=0, le=LONGEST_S)


def read(text: str) -> Tuning | None:
    """Return what "tune CT129 for decode, an hour at most" wishes for; None where it is no such wish.

    Raises ToolsError for a time that no plan may take.
    """
    if not _TUNE.search(text):
        return None
    goals = [name for form, name in _GOALS if re.search(form, text, re.IGNORECASE)]
    found = _BUDGET.search(text)
    return _tuning(goals[0] if goals else "decode", _spoken_s(found) if found else HOUR_S)


def typed(goal: str, budget: str) -> Tuning:
    """Return what the options say: a goal by its name, a time as 90m or 2h. Raises ToolsError."""
    known: Goal | None = next((one for one in get_args(Goal) if one == goal), None)
    if known is None:
        raise ToolsError(f"--goal {goal} is none of {', '.join(get_args(Goal))}.")
    match = re.fullmatch(r"(\d{1,4})([mh])", budget.strip())
    if match is None:
        raise ToolsError(f"--budget {budget}: give minutes or hours up to a day, 60m or 2h.")
    return _tuning(known, int(match[1]) * _UNITS_S[match[2]])


def _tuning(goal: Goal, budget_s: float) -> Tuning:
    if not 0 < budget_s <= LONGEST_S:
        raise ToolsError("A plan takes minutes or hours up to a day: say 60m or 2h.")
    return Tuning(goal=goal, budget_s=budget_s)


def _spoken_s(found: re.Match[str]) -> float:
    word = found["number"].lower()
    number = _NUMBERS[word] if word in _NUMBERS else float(word.replace(",", "."))
    number += 0.5 if found["half"] or found["more"] else 0.0
    return number * _UNITS_S[found["unit"][0].lower()]
