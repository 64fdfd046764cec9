"""Work begins when nobody who wrote just now still waits for a first reply, and not much later."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.desk.desk import Desk
from bot.store import Run
from bot.work import Work, first_replies
from bot.work.first_replies import FirstReplies
from tests.work.room import Everybody, Room

Make = Callable[..., Room]


def worker(room: Room, announced_s: float) -> Work:
    return Work(room.store, room.settings, room.watching, room._reach, announced_s=announced_s)


def test_a_host_is_asked_when_all_who_wrote_were_answered_with_something(
    make_room: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = make_room()
    room.say("why is CT129 slow?")
    (run,) = room.queue
    trail = f"run:{run.id}:trail"
    room.store.inbox.receive("of somebody else", "message", {})
    steps = iter([
        lambda: room.store.inbox.handled("of somebody else"),
        lambda: room.store.letters.sending(trail),
        lambda: room.store.letters.sent(trail, "1.1"),
    ])  # fmt: skip

    def meanwhile(_s: float) -> None:
        assert not room.hosts, "a host was reached before the replies were out"
        next(steps)()

    monkeypatch.setattr(first_replies, "LOOK_S", 0.0)
    monkeypatch.setattr(first_replies, "sleep", meanwhile)
    worker(room, announced_s=60).carry_out(run.id)
    assert next(steps, None) is None, "it did not wait for all of them"
    assert room.hosts[0].asked


def test_a_reply_that_slack_does_not_take_holds_work_up_for_a_moment_only(make_room: Make) -> None:
    room = make_room()
    room.say("why is CT129 slow?")
    worker(room, announced_s=0.05).carry_out(room.queue[0].id)
    assert room.letters(kind="verdict")
    assert room.letters(kind="trail")


def test_a_follow_up_and_what_is_heard_in_passing_owe_no_first_reply(make_room: Make) -> None:
    room = make_room()
    room.store.inbox.receive("a press", "press", {})
    room.store.inbox.receive("a visit", "visit", {})
    assert not room.store.owes_a_reply(60)
    room.store.inbox.receive("a message", "message", {})
    assert room.store.owes_a_reply(60)
    assert not room.store.owes_a_reply(-1), "one that is old holds nobody up"


def test_many_who_wait_look_once(make_room: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    room, looks = make_room(), []

    def owes(within_s: float) -> bool:
        looks.append(within_s)
        return False

    monkeypatch.setattr(room.store, "owes_a_reply", owes)
    monkeypatch.setattr(first_replies, "LOOK_S", 60.0)
    waiting = FirstReplies(room.store, 2.0)
    for _ in range(20):
        waiting.wait()
    assert looks == [2.0]


def test_what_is_said_is_on_its_way_before_the_work_is_put_into_the_queue(make_room: Make) -> None:
    room, order = make_room(), []

    def enqueue(_run: Run) -> None:
        order.append("work")

    room.watching.letters = lambda: order.append("letters")  # type: ignore[method-assign]
    room.desk = Desk(room.store, room.settings, enqueue, Everybody(), room.watching)
    room.say("why is CT129 slow?")
    assert order == ["letters", "work"]
