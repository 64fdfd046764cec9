"""A run with a model: its looks stand in the trail and the case, others work meanwhile, a stop ends the wait."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from bot.investigate import Noted
from bot.settings import ModelSettings, Settings
from bot.work import Work
from tests.fakes.models import Answer, FakeModel, calls
from tests.work.room import Room, text_of

ASK = "why is CT129 slow? cuda graphs?"
FINISH = calls(("finish", {}))


def with_model(room: Room, model: FakeModel, **settings: Any) -> Room:
    given = ModelSettings(name="openai:fake", base_url=model.base_url, **settings)
    known = Settings.model_validate({**dict(room.settings), "models": (given,)})
    room.worker = Work(room.store, known, room.watching, room._reach)
    return room


def test_looks_of_a_model_are_asked_last_and_what_it_was_given_is_kept(room: Room) -> None:
    with FakeModel([calls(("ReadStorage", {})), FINISH, "Nothing to add."]) as model:
        with_model(room, model)
        ts = room.say(ASK)
        room.work()
    assert room.hosts[0].asked[-1] == "ReadStorage"
    noted = [event.text for _, event in room.watching.events if isinstance(event, Noted)]
    assert any(text.startswith("The disks: no answer") for text in noted)
    case = room.store.cases.load(1)
    assert case
    assert len(case.asked) == 16
    assert [one["purpose"] for one in case.exchanges][:2] == ["plan", "plan"]
    assert "Gen1" in text_of(room.letters(ts, "verdict")[0])


def test_without_a_model_nothing_is_kept_of_one(room: Room) -> None:
    room.say(ASK)
    room.work()
    case = room.store.cases.load(1)
    assert case
    assert case.exchanges == []


def test_a_dead_model_is_said_in_the_thread_and_the_verdict_comes(room: Room) -> None:
    with FakeModel(Answer(status=500)) as model:
        with_model(room, model)
        ts = room.say(ASK)
        room.work()
    noted = [event.text for _, event in room.watching.events if isinstance(event, Noted)]
    assert any("the playbook goes on without it" in text for text in noted)
    assert "Gen1" in text_of(room.letters(ts, "verdict")[0])


def holding(reached: threading.Event) -> Callable[[Any], Any]:
    def script(asked: Any) -> Any:
        if asked.number:
            return FINISH if asked.tools else "Nothing to add."
        reached.set()
        return Answer(hang_s=60)

    return script


def test_another_run_is_done_while_a_model_thinks_and_a_stop_ends_the_wait(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "bot.agent.asking.model.same_server", lambda *_: False
    )  # such is asked alone
    reached = threading.Event()
    with FakeModel(holding(reached)) as model:
        with_model(room, model, timeout_s=600)
        room.say(ASK)
        first = threading.Thread(target=room.worker.carry_out, args=(1,))
        first.start()
        assert reached.wait(60)
        room.say("why is CT130 slow?")
        room.worker.carry_out(2)
        run = room.store.runs.get(2)
        assert run
        assert run.state == "done"
        assert first.is_alive()
        room.store.runs.ask_stop(1, "USAM")
        first.join(60)
        assert not first.is_alive()
    stopped = room.store.runs.get(1)
    assert stopped
    assert stopped.state == "stopped"


def test_nobody_waits_while_it_is_found_out_whether_the_model_is_the_server_under_diagnosis(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking, let_go = threading.Event(), threading.Event()

    def slow(host: str, _: Settings) -> tuple[str, ...]:
        if host == "CT129":
            asking.set()
            let_go.wait(300)
        return ()

    monkeypatch.setattr("bot.agent.agent.names_of", slow)
    with FakeModel([FINISH, "Nothing to add."]) as model:
        with_model(room, model)
        room.say(ASK)
        first = threading.Thread(target=room.worker.carry_out, args=(1,))
        first.start()
        assert asking.wait(60)
        room.say("why is CT130 slow?")
        second = threading.Thread(target=room.worker.carry_out, args=(2,))
        second.start()
        second.join(60)
        went_by = not second.is_alive()
        let_go.set()
        first.join(30)
        second.join(30)
    assert went_by
