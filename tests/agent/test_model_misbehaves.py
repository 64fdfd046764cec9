"""However a model's server misbehaves, it ends in a Reply or in one clear sentence."""

from __future__ import annotations

import traceback
from typing import Any

import pytest

from bot.agent.asking.model import Models
from bot.agent.asking.reply import Reply, Said
from bot.agent.asking.spending import Spending
from bot.agent.asking.trouble import ModelTrouble, TooLong
from bot.settings import Budgets, ModelSettings
from tests.fakes import models as fakes
from tests.fakes.models import FakeModel, calls, says

LOOK = {
    "type": "function",
    "function": {"name": "ReadGpus", "parameters": {"type": "object", "properties": {}}},
}


def answered(script: Any, *, usage: Any = True, timeout_s: float = 10) -> tuple[Reply, FakeModel]:
    with FakeModel(script, usage=usage) as fake:
        one = ModelSettings(name="openai:fake", base_url=fake.base_url, timeout_s=timeout_s)
        return Models([one], Spending(), {}).ask("s", [Said("user", "x")], [LOOK]), fake


def failed(script: Any, *, timeout_s: float = 10, key: str = "") -> tuple[ModelTrouble, FakeModel]:
    with FakeModel(script) as fake:
        one = ModelSettings(
            name="openai:fake",
            base_url=fake.base_url,
            timeout_s=timeout_s,
            key="THE_KEY" if key else None,
        )
        with pytest.raises(ModelTrouble) as why:
            Models([one], Spending(), {"THE_KEY": key}).ask("s", [Said("user", "x")], [LOOK])
    said = str(why.value)
    assert said.endswith(".")
    assert "\n" not in said
    assert "Traceback" not in said
    assert "<" not in said
    return why.value, fake


@pytest.mark.parametrize(
    "script", [fakes.BAD_JSON, fakes.NO_OBJECT, fakes.TRUNCATED, fakes.CUT_BUT_WHOLE]
)
def test_a_call_that_is_not_whole_is_refused_with_a_word_for_the_model(script: Any) -> None:
    reply, _ = answered(script)
    assert reply.calls == ()
    assert len(reply.bad) == 1
    assert "not carried out" in reply.bad[0] or "Nothing of it was carried out" in reply.bad[0]
    assert not reply.empty


@pytest.mark.parametrize("finish", ["length", "content_filter", "abort", "", None])
def test_a_whole_call_of_an_answer_that_broke_off_is_refused(finish: str | None) -> None:
    reply, _ = answered(calls(("ReadGpus", {"lines": 1}), finish=finish))
    assert reply.calls == ()
    assert "broke off" in reply.bad[0]


def test_a_good_call_beside_a_bad_one_stays() -> None:
    reply, _ = answered(calls(("ReadGpus", {}), ("ReadLinks", "{"), ("", {})))
    assert [call.name for call in reply.calls] == ["ReadGpus"]
    assert len(reply.bad) == 2


@pytest.mark.parametrize(
    "args",
    [
        '{"a": NaN}',
        '{"a": ' + "9" * 9000 + "}",
        '{"a": "' + "x" * 9000 + '"}',
        "[" * 5000 + "]" * 5000,
    ],
)
def test_arguments_that_are_no_json_or_far_too_long_are_refused(args: str) -> None:
    reply, _ = answered(calls(("ReadGpus", args)))
    assert reply.calls == ()
    assert reply.bad


def test_a_hundred_calls_at_once_are_cut_and_said_so() -> None:
    reply, _ = answered(calls(*[("ReadGpus", {"n": n}) for n in range(100)]))
    assert len(reply.calls) == 32
    assert "68 calls more" in reply.bad[-1]


def test_the_name_of_a_refused_call_is_told_without_what_could_steer() -> None:
    reply, _ = answered(calls(("<!channel> ignore\nall", "{")))
    assert reply.bad[0].startswith("The call of channelignoreall was")


def test_four_parallel_calls_keep_their_order_and_a_null_id_becomes_one() -> None:
    parallel, _ = answered(fakes.PARALLEL)
    assert [call.name for call in parallel.calls] == ["Read0", "Read1", "Read2", "Read3"]
    assert len({call.id for call in parallel.calls}) == 4
    assert answered(fakes.NULL_ID)[0].calls[0].id


@pytest.mark.parametrize("script", [fakes.UNKNOWN_TOOL, fakes.CALL_AS_TEXT, fakes.CALL_FENCED])
def test_what_only_we_can_judge_is_handed_on_as_it_is(script: Any) -> None:
    reply, _ = answered(script)
    assert bool(reply.text) != bool(reply.calls)
    assert reply.bad == ()


@pytest.mark.parametrize(
    ("script", "finish"),
    [
        (fakes.EMPTY, "stop"),
        (fakes.NOTHING, "stop"),
        (fakes.FILTERED, "content_filter"),
        (says(" \n\0"), "stop"),
    ],
)
def test_an_empty_answer_is_known_as_one(script: Any, finish: str) -> None:
    reply, _ = answered(script)
    assert reply.empty
    assert (reply.text, reply.finish) == ("", finish)


def test_a_text_that_broke_off_says_so() -> None:
    assert answered(fakes.TOO_SHORT)[0].finish == "length"


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("<think>Is it <b>?</think>\nIt is.", "It is."),
        ("<think>never ended", ""),
        ("\n<think>\n</think>\n\nYes", "Yes"),
        ("a <think>b</think>", "a <think>b</think>"),
    ],
)
def test_what_a_model_thinks_aloud_is_not_its_answer(said: str, text: str) -> None:
    assert answered(says(said))[0].text == text


def test_a_huge_answer_is_cut() -> None:
    assert len(answered(fakes.HUGE)[0].text) == 40_000


@pytest.mark.parametrize(
    "usage", [False, None, {"prompt_tokens": -5, "completion_tokens": 10**12, "total_tokens": 0}]
)
def test_usage_that_is_missing_or_absurd_is_counted_by_us(usage: Any) -> None:
    reply, _ = answered("x" * 300, usage=usage)
    assert 20 < reply.tokens_in < 200
    assert 100 <= reply.tokens_out <= 110


def test_one_that_is_busy_or_broken_is_tried_again_by_the_library() -> None:
    reply, fake = answered([fakes.BUSY, "Now."])
    assert (reply.text, len(fake.asked)) == ("Now.", 2)
    reply, fake = answered([fakes.DOWN, fakes.DOWN, "Now."])
    assert (reply.text, len(fake.asked)) == ("Now.", 3)
    reply, fake = answered([fakes.CUT_BEFORE, fakes.CUT_MID, "Now."])
    assert (reply.text, len(fake.asked)) == ("Now.", 3)


@pytest.mark.parametrize(
    ("script", "says_", "requests"),
    [
        (fakes.fails(429, retry_after="0"), "takes no more requests for now (HTTP 429)", 3),
        (fakes.DOWN, "is in trouble itself (HTTP 500)", 3),
        (fakes.GATEWAY, "is in trouble itself (HTTP 502)", 3),
        (fakes.CUT_BEFORE, "cannot be reached, or broke off", 3),
        (fakes.CUT_MID, "cannot be reached, or broke off", 3),
        (fakes.PAGE, "gave what is no answer of a model", 1),
        (fakes.NOT_JSON, "gave what is no answer of a model", 1),
        (fakes.BAD_UTF8, "gave what is no answer of a model", 1),
        (fakes.NULL_CHOICES, "gave what is no answer of a model", 1),
        (fakes.NO_CHOICES, "gave what is no answer of a model", 1),
        (fakes.fails(400, "temperature is unknown"), "refused the request (HTTP 400)", 1),
        (fakes.fails(403), "refused the key the use of this model", 1),
        (fakes.fails(404), "knows no such model or address", 1),
        (fakes.fails(422), "refused the request (HTTP 422)", 1),
    ],
)
def test_an_error_is_one_clear_sentence(script: Any, says_: str, requests: int) -> None:
    why, fake = failed(script)
    assert str(why).startswith(f"openai:fake {says_}")
    assert len(fake.asked) == requests


@pytest.mark.parametrize("script", [fakes.LONG_CONTEXT, fakes.SGLANG_LONG, fakes.fails(413)])
def test_a_text_too_long_is_known_as_that(script: Any) -> None:
    why, _ = failed(script)
    assert isinstance(why, TooLong)
    assert not why.away


@pytest.mark.parametrize("script", [fakes.HANGS, fakes.DRIPS])
def test_one_that_hangs_or_drips_is_left_in_time(script: Any) -> None:
    why, _ = failed(script, timeout_s=0.3)
    assert str(why) == "openai:fake did not answer in time (0.3 s)."


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429, 500])
def test_nothing_of_a_key_that_an_error_echoes_is_told(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    key = "sk-live-0123456789abcdef"
    caplog.set_level("INFO")
    why, fake = failed(fakes.fails(status, f"bad key {key}", retry_after="0"), key=key)
    assert fake.asked[0].headers["Authorization"] == f"Bearer {key}"
    told = "".join(traceback.format_exception(why)) + repr(vars(why)) + caplog.text
    assert "0123456789" not in told


def test_a_late_answer_is_charged_and_a_refusal_is_not() -> None:
    for script, charged in ((fakes.HANGS, True), (fakes.fails(401), False)):
        spending = Spending(Budgets())
        with FakeModel(script) as fake:
            one = ModelSettings(name="openai:fake", base_url=fake.base_url, timeout_s=0.3)
            with pytest.raises(ModelTrouble):
                Models([one], spending, {}).ask("s", [Said("user", "x")])
        assert (spending.tokens > 0) is charged
