"""A text becomes a question."""

from __future__ import annotations

import pytest

from bot.question import Question
from bot.reach import parted


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
        ("my bench gave 117 tok/s on Sunday, this afternoon I measure 46", 46, 117),
        ("decode starts at 84 tok/s and drops to 44 during a long session", 44, 84),
        ("256 requests only get 760 tok/s, the vendor promised 5000", 760, 5000),
        ("one user gets 46 tok/s, I have read of 100", 46, 100),
        ("the first token takes 2 s now and it was 3 requests before", None, None),
        ("an all-reduce takes 370 ms instead of about 80", None, None),
        ("decode jumps between 20 and 95 tok/s", None, None),
        ("it does 55 tok/s and did 70", 55, 70),
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
        ("why is http://gpu7.lab.example:31002/v1 slow?", ("gpu7.lab.example",)),
    ],
)
def test_hosts_are_found_and_models_cards_and_versions_are_none(
    text: str, hosts: tuple[str, ...]
) -> None:
    assert Question.of(text).hosts == hosts


def test_a_known_host_is_found_whatever_its_name_and_case() -> None:
    question = Question.of("is BIGBOX ok, and what of H100?", ["bigbox", "other"])
    assert question.hosts == ("bigbox",)


@pytest.mark.parametrize(
    ("text", "port"),
    [
        ("why is ct129:30001 slow", 30001),
        ("the server on port 30001 of ct129 is slow", 30001),
        ("port=30001 on ct129 is slow", 30001),
        ("on ct129 the root port 0000:80:01.1 came up as Gen1", None),
        ("on ct129 the upstream port 0000:00:1c.5 has errors", None),
    ],
)
def test_a_port_goes_with_its_host_or_is_named(text: str, port: int | None) -> None:
    question = Question.of(text)
    assert (question.hosts, question.port) == (("ct129",), port)


@pytest.mark.parametrize(
    ("asked_for", "meant"),
    [
        ("ct129", ("ct129", None)),
        ("ct129:30001", ("ct129", 30001)),
        ("root@10.0.0.1:30001", ("root@10.0.0.1", 30001)),
        ("fe80::1", ("fe80::1", None)),
        ("ct129:http", ("ct129:http", None)),
        ("ct129:99999", ("ct129:99999", None)),
    ],
)
def test_the_host_that_is_asked_for_may_come_with_a_port(
    asked_for: str, meant: tuple[str, int | None]
) -> None:
    assert parted(asked_for) == meant


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


@pytest.mark.parametrize(
    ("text", "requests"),
    [
        ("we fire 256 requests in parallel", 256),
        ("with 64 concurrent streams", 64),
        ("bench at concurrency 32", 32),
        ("our 50 users", None),
        ("256 tokens at once", None),
    ],
)
def test_requests_in_flight_are_read_and_users_are_not(text: str, requests: int | None) -> None:
    assert Question.of(text).in_parallel == requests


def test_a_rate_for_each_user_is_told_from_a_total() -> None:
    assert Question.of("two users, 71 tok/s each").for_each
    assert Question.of("each of our 3 users only gets 62 tok/s").for_each
    assert not Question.of("the server makes 71 tok/s").for_each


def test_a_rate_that_jumps_is_a_question_about_measuring() -> None:
    asked = Question.of("gen throughput jumps between 0.6 and 140 all day")
    assert "measurement" in asked.interest.suspects
