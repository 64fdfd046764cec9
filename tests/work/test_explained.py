"""What a model says of a verdict stands in its letter where it was checked; free follow-ups are answered so too."""

from __future__ import annotations

from tests.fakes.models import FakeModel, says
from tests.work.room import Room, text_of
from tests.work.test_planned import ASK, FINISH, with_model

TRUE = (
    "The PCIe links of both GPUs run at Gen1 under load, although card and slot can do Gen4 [E15]. "
    "That costs prefill about 51 % and decode about 3 % [E15]."
)
MARK = "In a model's words, each sentence checked against the looks"


def test_the_verdict_is_explained_and_what_was_said_is_kept(room: Room) -> None:
    with FakeModel([FINISH, says(TRUE)]) as model:
        with_model(room, model)
        ts = room.say(ASK)
        room.work()
    told = text_of(room.letters(ts, "verdict")[0])
    assert MARK in told
    assert "although card and slot can do Gen4" in told
    case = room.store.cases.load(1)
    assert case
    assert [one["purpose"] for one in case.exchanges] == ["plan", "prose"]


def test_a_false_explanation_is_left_out_and_the_plain_text_stands(room: Room) -> None:
    with FakeModel(
        [FINISH, says("NCCL is the cause [E6]. Decode runs at 983 tok/s [E3].")]
    ) as model:
        with_model(room, model)
        ts = room.say(ASK)
        room.work()
    told = text_of(room.letters(ts, "verdict")[0])
    assert MARK not in told
    assert "983" not in told
    assert "the plain text stands" in told
    assert "Gen1" in told


def test_a_free_follow_up_goes_to_the_model_and_a_false_answer_leaves_ours(room: Room) -> None:
    with FakeModel(
        [
            FINISH,
            says(TRUE),
            says("It costs prefill about 51 % [E15]."),
            says("NCCL is the cause [E6]."),
        ]
    ) as model:
        with_model(room, model)
        ts = room.say(ASK)
        room.work()
        room.say("explain it like I am new here", thread=ts)
        room.work()
        first = text_of(room.letters(ts, "answer")[-1])
        room.say("explain it like I am new here", thread=ts)
        room.work()
        second = text_of(room.letters(ts, "answer")[-1])
    assert MARK in first
    assert "It costs prefill about 51 %" in first
    assert MARK not in second
    assert "NCCL is the cause" not in second
    assert "PCIe is the road" in second
    assert "the plain text stands" in second
