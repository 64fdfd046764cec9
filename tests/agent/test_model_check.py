"""What doctor says of models."""

from __future__ import annotations

from bot.agent.asking.check import check
from bot.settings import ModelSettings, Settings
from tests.fakes.models import FakeModel, calls, fails


def said(fake: FakeModel) -> tuple[str, str]:
    one = ModelSettings(name="openai:fake", base_url=fake.base_url, timeout_s=10)
    first, budget = check(Settings(models=(one,)), {})
    assert budget.text.startswith(
        "models' budget: 40,000 tokens for an investigation, 2,000,000 tokens a day"
    )
    return first.kind, first.text


def test_a_model_that_calls_tools_is_fine() -> None:
    with FakeModel(calls(("ready", {}))) as fake:
        kind, text = said(fake)
    assert kind == "look"
    assert text.endswith("and calls tools")


def test_one_that_writes_its_calls_as_text_is_told_what_its_server_lacks() -> None:
    with FakeModel('{"name": "ready", "arguments": {}}') as fake:
        kind, text = said(fake)
    assert kind == "trouble"
    assert "--tool-call-parser" in text


def test_one_that_does_not_answer_is_one_line() -> None:
    with FakeModel(fails(404)) as fake:
        assert said(fake) == (
            "trouble",
            "model: openai:fake knows no such model or address: correct its name or base_url.",
        )
