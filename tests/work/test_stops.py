"""A stop that somebody asks for ends what is asked of a real host; `make bench` says how soon."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from bot.investigate import Asking, Judged, Learned, investigate
from bot.planner import Playbook
from bot.question import Question
from bot.settings import Settings
from bot.work import Work
from bot.work.stops import Stops
from tests.hosts.asks import batches_seen
from tests.lab.sshd import Lab, alive, wait_for
from tests.work.room import Room, text_of
from tests.work.slow_host import SlowHost, begun
from tools.host import STOPPED, Output
from tools.hosts.replay import ReplayHost
from tools.probes import PROBES
from tools.rules import RULES


def test_a_stop_ends_the_probes_on_a_real_host_and_keeps_what_came(
    room: Room, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note, batches = tmp_path / "note", batches_seen(monkeypatch)

    def host_of(name: str, _settings: Settings) -> SlowHost:
        return SlowHost(lab, name, note)

    lab.mood("gen1_busy")
    room.worker = Work(room.store, room.settings, room.watching, host_of, names=lambda _: "ana")
    ts = room.say("why is CT129 slow?")
    working = threading.Thread(target=room.work)
    working.start()
    numbers = begun(note)
    wait_for(lambda: bool(batches[-1]._answers), "no quick answer comes")
    room.desk.stop("CGPU", ts, "UANA", "evt:stop")
    wait_for(lambda: not any(map(alive, numbers)), "a process on the host lives on")
    wait_for(lambda: bool(room.letters(ts, "verdict")), "nobody said what was learned")
    working.join(60)
    said = text_of(room.letters(ts, "verdict")[0])
    assert said.startswith("Stopped by ana after ")
    case = room.store.cases.load(1)
    assert case
    assert case.asked
    assert not any("stopped before" in one.output.lost for one in case.asked)


def test_the_thread_that_listens_ends_when_nothing_is_watched(room: Room) -> None:
    wait_for(lambda: not _listening(), "one of another test listens for ever")
    stops = Stops(room.store, beat_s=0.02)
    for _ in range(2):
        with stops.watching(1, None), stops.watching(2, None):
            assert _listening() == 1
        wait_for(lambda: not _listening(), "it listens for ever")


def test_every_run_that_is_to_stop_is_told_so_and_no_other(room: Room) -> None:
    stops = Stops(room.store, beat_s=0.02)
    first, second = (room.say(f"why is {name} slow?") for name in ("CT129", "CT130"))
    with stops.watching(1, None) as one, stops.watching(2, None) as other:
        room.store.runs.ask_stop(2, "UANA")
        wait_for(other.asked, "nobody told it")
        assert other.by == "UANA"
        assert not one.asked()
    assert first != second


def test_a_database_that_does_not_answer_stops_nothing_and_is_asked_again(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bot.store import StoreError

    tries: list[int] = []

    def asked(_: object) -> dict[int, str]:
        tries.append(1)
        if len(tries) in (2, 3):
            raise StoreError("The database does not answer.")
        return {1: "UANA"} if len(tries) > 3 else {}

    monkeypatch.setattr(room.store.runs, "stop_asked", asked)
    stops = Stops(room.store, beat_s=0.02)
    with stops.watching(1, None) as watch:
        wait_for(watch.asked, "a fault of the database silenced it")


def _listening() -> int:
    return [thread.name for thread in threading.enumerate()].count("stops")


def test_what_a_stop_lost_is_no_look_and_the_others_keep_whole_numbers() -> None:
    class Half(ReplayHost):
        def answer(self, probes, /):  # type: ignore[no-untyped-def]
            lost = Output(status=None, lost=STOPPED)
            return [lost if n % 2 else Output(stdout="") for n, _ in enumerate(probes)]

    playbook = Playbook(PROBES, RULES)
    asked = Question.of("it does 55 tok/s")
    events = list(investigate(asked, playbook, Half("h", {}), stopped=iter([False, True]).__next__))
    (asking,) = [event for event in events if isinstance(event, Asking)]
    looks = [event.look for event in events if isinstance(event, Learned)]
    assert len(looks) == (len(asking.probes) + 1) // 2
    assert [look.id for look in looks] == [f"E{n + 1}" for n in range(len(looks))]
    end = events[-1]
    assert isinstance(end, Judged)
    assert end.evidence[-1].id == f"E{len(looks) + 1}", "the claim comes after them"
