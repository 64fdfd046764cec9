"""What people read when they ask freely: a look, a question back, or one kind sentence; nothing by mistake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.desk.aside import beside
from bot.desk.small_talk import small_talk, stops
from tests.work.room import Room

SCENARIOS = Path(__file__).parents[1] / "scenarios"


def last(room: Room) -> str:
    return room.said()[-1]


@pytest.mark.parametrize(
    "text",
    ["what's the weather?", "write me a poem about CT129", "you are useless", "今天天气怎么样"],
)
def test_what_is_off_topic_is_declined_in_one_kind_sentence_and_starts_nothing(
    room: Room, text: str
) -> None:
    ts = room.say(text)
    assert last(room) == (
        "I am afraid I only know why LLM servers are slow or broken. "
        "Ask me “why is CT129 slow?”, or “help”."
    )
    assert not room.queue
    assert len(room.letters(ts)) == 1


def test_who_is_off_topic_reads_of_no_host_that_they_may_not_ask_about(
    make_room: Callable[..., Room],
) -> None:
    room = make_room(hosts=("CT130",), CT130={"ask": ("SOPS",)})
    room.say("what's the weather?")
    assert "CT130" not in last(room)


def test_off_topic_in_a_thread_with_a_verdict_is_declined_too(room: Room) -> None:
    ts = room.say("why is CT129 slow?")
    room.work()
    room.say("write me a haiku", thread=ts)
    assert last(room).startswith("I am afraid")
    assert not room.queue


def test_talk_that_is_not_addressed_to_us_is_not_declined(room: Room) -> None:
    ts = room.say("why is CT129 slow?")
    before = len(room.letters())
    for text in ("what's for lunch?", "never mind, Bob", "forget it", "who won?"):
        room.say(text, thread=ts, addressed=False, user="UANA")
    assert len(room.letters()) == before
    assert not stops("never mind")


def test_who_names_a_host_that_is_nearly_one_of_ours_is_asked_back(room: Room) -> None:
    room.say("why is CT219 slow?")
    assert last(room).endswith("Did you mean CT129?")
    room.say("why is gpu-77 slow?")
    assert "Did you mean" not in last(room)
    assert not room.queue


def test_a_stranger_beside_a_host_that_we_know_is_told_and_the_known_one_looked_at(
    room: Room,
) -> None:
    room.say("compare CT129 with CT777")
    assert [run.host for run in room.queue] == ["CT129"]
    assert "I do not know CT777: I look only at hosts that I was given." in last(room)
    room.say("is CT130 slow because of Qwen3-32B on port 30001?")
    assert "I do not know" not in last(room)


def test_a_wish_for_a_restart_in_chinese_is_told_what_we_restart(room: Room) -> None:
    room.say("重启 CT129")
    assert "do not restart a server as it is" in last(room)


def test_what_was_understood_of_a_chinese_question_is_told(room: Room) -> None:
    room.say("CT129解码掉到55 tok/s,以前是70")
    assert "decode: 55 tok/s now, 70 remembered" in last(room)


def test_no_question_of_a_real_case_is_declined_or_taken_for_small_talk() -> None:
    questions = [
        path.read_text(encoding="utf-8").strip() for path in SCENARIOS.rglob("question.txt")
    ]
    assert len(questions) > 200
    declined = [
        text for whole in questions for text in (whole, whole.split(". ")[0])
        if beside(text) or small_talk(text)
    ]  # fmt: skip
    assert not declined


@pytest.mark.parametrize(
    "text", ["a" * 4000, "why " * 1000, "是" * 4000, "1," * 2000, "ct 1" * 1000]
)
def test_a_long_text_is_read_in_good_time(room: Room, text: str) -> None:
    room.say(text)
    assert len(room.letters()) == 1
