"""A wish to tune, as people write it: the goal, the time it may take, and what is no such wish."""

from __future__ import annotations

import pytest

from bot.tuning.tuning import Tuning, read, typed
from tools.errors import ToolsError


@pytest.mark.parametrize(
    ("text", "goal", "minutes"),
    [
        ("tune CT129 for decode, an hour at most", "decode", 60),
        ("Tune CT129", "decode", 60),
        ("please tune CT129 for TTFT within 90 minutes", "ttft", 90),
        ("can you tune ct129:30000 for throughput? 2h", "throughput", 120),
        ("tune CT129 --goal prefill --budget 45m", "prefill", 45),
        ("tune it for the first token in half an hour", "ttft", 30),
        ("ok, tune CT129 for decode in two and a half hours", "decode", 150),
        ("tune CT129, an hour and a half", "decode", 90),
        ("auto-tune CT129 for long prompts, 1.5 hours", "prefill", 90),
        ("tune CT129, two hours", "decode", 120),
        ("tune gpu-3 for throughput", "throughput", 60),
    ],
)
def test_goal_and_time_are_read(text: str, goal: str, minutes: float) -> None:
    assert read(text) == Tuning(goal=goal, budget_s=minutes * 60)


@pytest.mark.parametrize(
    "text",
    [
        "why is CT129 slow?",
        "did you tune CT129?",
        "is the tuning file of CT129 used?",
        "I will tune CT129 tonight",
        "tuned kernels are missing on CT129",
        "tune in to the call",
        "opportune CT129",
    ],
)
def test_other_sentences_wish_for_no_plan(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize("text", ["tune CT129 for 25 hours", "tune CT129 in 0 minutes"])
def test_a_time_that_no_plan_may_take_says_so(text: str) -> None:
    with pytest.raises(ToolsError, match="minutes or hours up to a day"):
        read(text)


def test_the_options_of_the_command_are_checked() -> None:
    assert typed("ttft", "2h") == Tuning(goal="ttft", budget_s=7200)
    with pytest.raises(ToolsError, match="is none of decode, prefill, ttft, throughput"):
        typed("beauty", "60m")
    for wrong in ("60", "1d", "h", "-5m"):
        with pytest.raises(ToolsError, match="give minutes or hours"):
            typed("decode", wrong)
    with pytest.raises(ToolsError, match="up to a day"):
        typed("decode", "25h")
