"""A comparison that is asked for at once: both hosts are looked at, and one card tells how they differ."""

from __future__ import annotations

import pytest

from tests.work.room import Room, text_of

ASK = "why is CT130 faster than CT129?"


@pytest.mark.parametrize(
    "text", [ASK, "compare CT130 with CT129", "CT130 vs CT129", "为什么 CT130 比 CT129 快?"]
)
def test_both_are_looked_at_and_one_card_compares_them(room: Room, text: str) -> None:
    thread = room.say(text)
    assert [run.host for run in room.queue] == ["CT130", "CT129"]
    room.work()
    assert sorted(host.name for host in room.hosts) == ["CT129", "CT130"]
    assert not room.letters(thread, "verdict"), "the comparison tells both"
    (card,) = room.letters(thread, "answer")
    said = text_of(card)
    assert said.startswith("CT130 decodes 4.1 % faster (2.7 to 5.6 %) at 1 running request")
    assert "CT129: Hardware: The PCIe links of GPU 0 and GPU 1 run at Gen1 under load" in said
    assert [run.state for run in room.runs()] == ["done", "done", "done"]


def test_it_waits_for_both_whichever_ends_first(room: Room) -> None:
    thread = room.say(ASK)
    first, second = room.queue
    room.queue.clear()
    room.worker.carry_out(second.id)
    assert not room.queue
    room.worker.carry_out(first.id)
    assert [run.kind for run in room.queue] == ["followup"]
    room.work()
    assert len(room.letters(thread, "answer")) == 1


def test_it_waits_for_the_second_where_the_first_ends_first(room: Room) -> None:
    room.say(ASK)
    first, second = room.queue
    room.queue.clear()
    room.worker.carry_out(first.id)
    assert not room.queue, "the other one is still looked at"
    comparison = room.store.runs.get(3)
    assert comparison
    assert (comparison.state, comparison.joins) == ("joined", second.id)
    room.worker.carry_out(second.id)
    assert [run.id for run in room.queue] == [3]


def test_a_look_that_somebody_else_asked_for_is_waited_for_too(room: Room) -> None:
    elsewhere = room.say("why is CT129 slow?", user="UANA", channel="COTHER")
    thread = room.say(ASK)
    room.work()
    assert len(room.hosts) == 2, "CT129 is looked at once"
    assert len(room.letters(elsewhere, "verdict")) == 1
    (card,) = room.letters(thread, "answer")
    assert text_of(card).startswith("CT130 decodes 4.1 % faster")


def test_a_look_that_was_joined_is_waited_for_where_the_other_ends_first(room: Room) -> None:
    room.say("why is CT129 slow?", user="UANA", channel="COTHER")
    thread = room.say(ASK)
    elsewhere, own = room.queue
    room.queue.clear()
    room.worker.carry_out(own.id)
    assert not room.queue
    comparison = next(run for run in room.runs() if run.kind == "followup")
    assert (comparison.state, comparison.joins) == ("joined", elsewhere.id)
    room.worker.carry_out(elsewhere.id)
    room.work()
    assert len(room.letters(thread, "answer")) == 1


def test_of_a_host_that_is_dead_the_trouble_is_said_and_the_other_told(room: Room) -> None:
    thread = room.say(ASK)
    first, second = room.queue
    room.queue.clear()
    room.unreachable = "CT130 does not answer: port 22 is closed."
    room.worker.carry_out(first.id)
    room.unreachable = ""
    room.worker.carry_out(second.id)
    room.work()
    (trouble,) = room.letters(thread, "verdict")
    assert "CT130 does not answer" in text_of(trouble)
    said = text_of(room.letters(thread, "answer")[-1])
    assert said.startswith("CT130 could not be looked at, so there is no comparison. Of CT129:")
    assert "Hardware: The PCIe links of GPU 0 and GPU 1 run at Gen1 under load" in said


def test_of_two_that_are_dead_there_is_no_comparison(room: Room) -> None:
    thread = room.say(ASK)
    room.unreachable = "no answer"
    room.work()
    assert text_of(room.letters(thread, "answer")[-1]).startswith("Neither could be looked at")


def test_follow_ups_are_about_the_host_that_was_named_first(room: Room) -> None:
    thread = room.say("compare CT129 with CT130")
    room.work()
    for text, says in (
        ("what should I do?", "PCIe links"), ("why not NCCL?", "NCCL"),
        ("how sure are you about CT130?", "Confidence"),
    ):  # fmt: skip
        room.say(text, thread=thread)
        room.work()
        assert says in text_of(room.letters(thread, "answer")[-1]), text
    assert room.runs()[-1].host == "CT130"


def test_in_a_thread_about_one_of_them_the_other_is_looked_at_and_compared(room: Room) -> None:
    thread = room.say("why is CT129 slow?")
    room.work()
    room.say(ASK, thread=thread)
    room.work()
    assert [host.name for host in room.hosts] == ["CT129", "CT130"]
    said = text_of(room.letters(thread, "answer")[-1])
    assert said.startswith("CT130 decodes 4.1 % faster")
    assert len(room.letters(thread, "verdict")) == 1


def test_people_who_talk_of_two_hosts_are_left_alone(room: Room) -> None:
    thread = room.say("why is CT129 slow?")
    room.work()
    room.say("CT130 is faster than CT129, I told you", thread=thread, addressed=False)
    assert not room.queue


def test_a_stop_ends_all_of_it(room: Room) -> None:
    thread = room.say(ASK)
    room.say("stop", thread=thread)
    room.work()
    assert [run.state for run in room.runs()] == ["stopped"] * 3
    assert not room.hosts


def test_what_is_beyond_the_limits_is_refused_as_a_whole(make_room: object) -> None:
    room: Room = make_room(limits={"open_per_user": 1})  # type: ignore[operator]
    room.say(ASK)
    assert not room.queue
    assert not room.runs()


def test_who_may_not_ask_of_one_of_them_is_refused(make_room: object) -> None:
    room: Room = make_room(CT130={"ask": ("SOPS",)})  # type: ignore[operator]
    room.say(ASK)
    assert "you may not ask me about CT130" in room.said()[-1]
    assert not room.queue
