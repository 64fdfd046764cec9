"""Buttons: authorised anew at each press, each press once, and what they bring."""

from __future__ import annotations

import pytest

from tests.work.room import Room, text_of

ASK = "why is CT129 slow? it does 55 tok/s, it was 70"


@pytest.fixture
def ts(room: Room) -> str:
    ts = room.say(ASK)
    room.work()
    return ts


def test_stop_is_asked_of_the_worker_and_after_the_end_told_to_who_pressed(room: Room) -> None:
    ts = room.say(ASK)
    room.store.runs.begin(1)
    room.press("stop", 1, ts, user="UANA")
    assert room.store.runs.stop_asked([1]) == {1: "UANA"}
    room.work()
    room.press("stop", 1, ts, user="UANA")
    letter = room.letters()[-1]
    assert (letter.only_for, text_of(letter)) == ("UANA", "That has ended already.")


def test_one_press_that_comes_twice_counts_once(room: Room, ts: str) -> None:
    room.press("check_again", 1, ts, name="act:1")
    room.press("check_again", 1, ts, name="act:1")
    assert [run.id for run in room.queue] == [2, 2], "handed on again, and carried out once"
    room.press("check_again", 1, ts, name="act:2")
    assert len(room.runs()) == 2, "a double click is one look"
    assert "I am looking at it right now." in room.said()[-1]
    room.work()
    assert len(room.letters(ts, "verdict")) == 2


def test_why_is_answered_once(room: Room, ts: str) -> None:
    room.press("ask_why", 1, ts)
    room.press("ask_why", 1, ts, user="UANA")
    assert len(room.queue) == 1
    room.work()
    _what_set_it, answer = room.letters(ts, "answer")
    assert "E" in text_of(answer)


def test_an_opinion_is_kept_with_its_reason(room: Room, ts: str) -> None:
    room.press("right", 1, ts, right=False, user="UANA")
    room.press("right", 1, ts, right=False, reason="it was the riser", user="UANA")
    room.press("right", 1, ts, right=True)
    kept = {(one.user, one.right, one.reason) for one in room.store.opinions.of(1)}
    assert kept == {("UANA", False, "it was the riser"), ("USAM", True, "")}
    assert {one.only_for for one in room.letters()[-3:]} == {"UANA", "USAM"}


def test_a_button_of_a_run_that_nobody_knows_does_nothing(room: Room) -> None:
    room.press("check_again", 99, "1.1")
    assert not room.letters()
    assert not room.queue


def test_check_again_elsewhere_joins_what_runs(room: Room, ts: str) -> None:
    room.say("why is CT129 slow?", user="UANA")
    room.press("check_again", 1, ts)
    assert [run.state for run in room.runs()] == ["done", "waiting", "joined"]
    room.work()
    assert text_of(room.letters(ts, "verdict")[-1]).startswith("Compared with the look ")


def test_presses_are_audited(room: Room, ts: str) -> None:
    room.press("right", 1, ts, right=True)
    act = room.store.audit.newest(1)[0]
    assert (act.user, act.act, act.outcome, act.host) == ("USAM", "press right", "done", "CT129")
