"""Every misbehaviour of a model's server ends in the playbook's verdict: no traceback, no half call carried out."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from bot.investigate import investigate
from bot.planner import Playbook
from bot.question import Question
from bot.report import report
from tests.agent.planning import FINISH, Told, planned, recorded
from tests.fakes import models as fake
from tests.fakes.models import call, calls, says
from tools.probes import PROBES
from tools.rules import RULES

KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz"
GREP = ("GrepServerLog", {"text": "retract"})
ARGUMENTS = '{"text": "retract"}'


def cut(text: str) -> dict[str, Any]:
    return calls(("GrepServerLog", text), finish="length")


@cache
def alone() -> Any:
    question = Question.of(recorded_question(), ["CT129"])
    *_, end = investigate(question, Playbook(PROBES, RULES, {}), recorded())
    return summary(end)


def recorded_question() -> str:
    from bot.demo import shipped

    return shipped().question


def summary(end: Any) -> Any:
    told = report("CT129", "", end.verdict, end.evidence)["verdict"]
    return [told[one] for one in ("category", "cause", "headline", "next_test", "headroom")]


def holds(told: Told) -> None:
    """What holds whatever a model does."""
    assert summary(told.end) == alone()
    asked = [key for batch in told.host.batches[2:] for key in batch]
    assert all(key.partition("{")[0] in PROBES for key in asked)
    for remark in told.remarks:
        assert remark.endswith(".")
        assert len(remark) < 300
        assert not any(word in remark for word in (KEY, "Traceback", "<html", "sk-"))


DEAD = {
    "500 for ever": fake.DOWN,
    "502 with a page": fake.GATEWAY,
    "200 with a page": fake.PAGE,
    "no JSON": fake.NOT_JSON,
    "no choices": fake.NO_CHOICES,
    "null choices": fake.NULL_CHOICES,
    "401 with the key in it": fake.refuses_key(KEY),
    "context length": fake.LONG_CONTEXT,
    "context length, SGLang": fake.SGLANG_LONG,
    "cut before": fake.CUT_BEFORE,
    "cut in the middle": fake.CUT_MID,
    "hangs": fake.HANGS,
    "drips": fake.DRIPS,
}


@pytest.mark.parametrize("name", DEAD)
def test_a_model_that_gives_no_answer_is_said_and_the_playbook_stands(name: str) -> None:
    told = planned(DEAD[name], timeout_s=1)
    holds(told)
    (remark,) = told.remarks
    assert remark.startswith("The model does not answer (")
    assert remark.endswith("): the playbook goes on without it.")
    assert len(told.host.batches) == 2
    assert told.planner.exchanges[-1].trouble


WITHOUT_A_CALL = {
    "bad JSON": calls(("GrepServerLog", '{"text": "retract",, }')),
    "no object": calls(("GrepServerLog", '["retract"]')),
    "cut": cut('{"text": "retr'),
    "cut, but whole": cut(ARGUMENTS),
    "unknown tool": fake.UNKNOWN_TOOL,
    "empty": fake.EMPTY,
    "null": fake.NOTHING,
    "too short": fake.TOO_SHORT,
    "port": calls(("GrepServerLog", {"text": "retract", "port": 22})),
    "path": calls(("ReadBenchmark", {"path": "/etc/shadow"})),
    "missing arguments": calls(("what_if", {})),
    "wrong type": calls(("SampleGpus", {"seconds": "for ever"})),
    "out of bounds": calls(("SampleGpus", {"seconds": 86_400})),
    "no reason given": calls(GREP, finish=None),
}


@pytest.mark.parametrize("name", WITHOUT_A_CALL)
def test_nothing_is_carried_out_of_a_faulty_call_and_the_model_is_told_why(name: str) -> None:
    told = planned(WITHOUT_A_CALL[name])
    holds(told)
    assert len(told.host.batches) == 2
    assert len(told.model.asked) == 2  # told once, and no better
    assert told.remarks == [
        "The model gave no call that could be made: the playbook goes on without it."
    ]
    assert told.model.asked[1].text != told.model.asked[0].text


@pytest.mark.parametrize("name", WITHOUT_A_CALL)
def test_a_model_that_mends_its_call_is_heard(name: str) -> None:
    told = planned([WITHOUT_A_CALL[name], calls(GREP), FINISH])
    holds(told)
    assert told.host.batches[2:] == [['GrepServerLog{"text": "retract"}']]
    assert told.remarks == []


def test_a_filtered_answer_ends_the_planning_with_a_sentence() -> None:
    told = planned(fake.FILTERED)
    holds(told)
    assert len(told.remarks) == 1
    assert len(told.host.batches) == 2


GOOD = {
    "null id": {"message": {"role": "assistant", "content": None, "tool_calls": [call(*GREP, None)]}, "finish_reason": "tool_calls"},
    "one id twice": {"message": {"role": "assistant", "content": None, "tool_calls": [call(*GREP, "a"), call("ReadStorage", {}, "a")]}, "finish_reason": "tool_calls"},
    "with prose": calls(GREP, text="I will look for retractions."),
    "stop as the reason": calls(GREP, finish="stop"),
    "as text": says('{"name": "GrepServerLog", "arguments": {"text": "retract"}}'),
    "as fenced text": says('```json\n{"name": "GrepServerLog", "arguments": {"text": "retract"}}\n```'),
    "repeated": calls(GREP, GREP),
    "beside an unknown one": calls(("run_shell", {"command": "id"}), GREP),
    "beside a broken one": calls(("SampleGpus", "{"), GREP),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_what_can_be_understood_is_looked_at_once(name: str) -> None:
    told = planned([GOOD[name], FINISH])
    holds(told)
    asked = [key for batch in told.host.batches[2:] for key in batch if "Grep" in key]
    assert asked == ['GrepServerLog{"text": "retract"}']
    answered = [
        message["tool_call_id"]
        for message in told.model.asked[1].messages
        if message["role"] == "tool"
    ]
    assert len(answered) == len(set(answered))
    called = [
        one["id"]
        for message in told.model.asked[1].messages
        for one in message.get("tool_calls") or []
    ]
    assert called == answered


def test_trouble_that_passes_is_not_noticed() -> None:
    told = planned([fake.BUSY, calls(GREP), fake.DOWN, fake.DOWN, FINISH])
    holds(told)
    assert told.remarks == []
    assert len(told.host.batches) == 3


def test_a_huge_answer_and_bad_utf8_end_in_the_verdict() -> None:
    for script in (fake.HUGE, fake.BAD_UTF8):
        told = planned(script)
        holds(told)
        assert len(told.host.batches) == 2


def test_a_hundred_calls_at_once_stay_within_the_bound() -> None:
    many = calls(*(("GrepServerLog", {"text": f"word {n}"}) for n in range(100)))
    told = planned(many)
    holds(told)
    assert len(told.host.batches[2]) == 20
    assert any("bound on calls" in remark for remark in told.remarks)


def test_too_long_a_text_is_shortened_once() -> None:
    told = planned([calls(GREP), fake.LONG_CONTEXT, FINISH])
    holds(told)
    second, third = told.model.asked[1:]
    assert len(third.text) < len(second.text)
    assert told.remarks == []
