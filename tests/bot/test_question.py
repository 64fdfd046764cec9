"""A text becomes a question."""

from __future__ import annotations

import pytest

from bot.question import Question


@pytest.mark.parametrize(
    ("text", "now", "before"),
    [
        (
            "don't leave perf on the table on CT129. it does 55 tok/s, it was 70. cuda graphs? nccl?",
            55,
            70,
        ),
        ("a single stream fell from 148 to 41 tok/s after the update", 41, 148),
        ("we get 25 tok/s where the table promises about 125", 25, 125),
        ("TP=2 gives 75.8 tok/s for prose", 75.8, None),
        ("long prompts need more than three times as long", None, None),
        ("it was 300 W before and 88 C", None, None),
    ],
)
def test_rates_are_read_as_they_are_claimed(
    text: str, now: float | None, before: float | None
) -> None:
    question = Question.of(text)
    assert (question.now_tok_s, question.before_tok_s) == (now, before)


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("don't leave perf on the table on CT129. it does 55 tok/s", ("CT129",)),
        ("why is gpu-07 slow?", ("gpu-07",)),
        ("check root@gpu1.lab.example:30001 please", ("root@gpu1.lab.example",)),
        ("what is wrong with 10.1.2.3?", ("10.1.2.3",)),
        ("Qwen3-8B on an A800 with TP2 and 0.5.11 makes 40 tok/s at Gen1 x16, H100 is faster", ()),
        ("look at serve.log, e.g. the end of it", ()),
    ],
)
def test_hosts_are_found_and_models_cards_and_versions_are_none(
    text: str, hosts: tuple[str, ...]
) -> None:
    assert Question.of(text).hosts == hosts


def test_a_known_host_is_found_whatever_its_name_and_case() -> None:
    question = Question.of("is BIGBOX ok, and what of H100?", ["bigbox", "other"])
    assert question.hosts == ("bigbox",)


def test_a_port_goes_with_its_host() -> None:
    question = Question.of("why is ct129:30001 slow")
    assert (question.hosts, question.port) == (("ct129",), 30001)


def test_what_is_asked_and_suspected_is_understood() -> None:
    interest = Question.of(
        "prefill of long prompts is slow since the reboot, is the PCIe link down?"
    ).interest
    assert "prefill" in interest.aspects
    assert "pcie" in interest.suspects
    interest = Question.of("it does 55 tok/s, it was 70. cuda graphs? nccl?").interest
    assert "decode" in interest.aspects
    assert {"nccl", "cuda_graph_disabled", "piecewise_graph_off"} <= interest.suspects


def test_an_empty_question_asks_for_everything() -> None:
    question = Question.of("")
    assert not question.hosts
    assert not question.interest.aspects


def test_what_is_so_on_purpose_is_understood_as_intended() -> None:
    asked = Question.of(
        "Is offload slow by nature? (eager mode is on purpose, it's a test)"
    ).interest
    assert asked.intended == {"cuda_graph_disabled"}
    assert not Question.of(
        "Are cuda graphs off? The network was changed on purpose."
    ).interest.intended & {"cuda_graph_disabled"}
