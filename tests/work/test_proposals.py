"""Proposals as work: stopped, restarted, made again for a changed host, and suggested by a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from bot.proposal import Wanted
from bot.store import Run
from bot.work.proposals import Anew
from tests.proposal.made import proposal
from tests.proposal.servers import launcher
from tests.work.room import Room, text_of
from tools.change import Change
from tools.host import Output
from tools.probes.source_listing import ListSource

WANTED = Wanted(change=Change(set={"chunked_prefill_size": 8192}))


@pytest.fixture
def room(make_room: Callable[..., Room]) -> Room:
    room = make_room(access={"approve": ("USAM",)})
    room.more["ReadLauncher"] = launcher()
    return room


def wish(room: Room, key: str = "w", message: str = WANTED.model_dump_json()) -> Run:
    run = room.store.runs.add(
        key, "proposal", host="CT129", channel="CGPU", thread="1.0", user="USAM", message=message
    )
    assert run is not None
    return run


def test_a_run_that_is_carried_out_twice_proposes_once(room: Room) -> None:
    run = wish(room)
    room.worker.carry_out(run.id)
    room.worker.carry_out(run.id)
    assert len([one for one in room.letters() if one.buttons == ("approve", "decline")]) == 1
    offer = room.store.proposals.of_run(run.id)
    assert offer is not None
    assert offer.proposal.change == WANTED.change
    assert offer.proposal.predicted.prefill_pct is not None
    assert offer.proposal.keep.goal == "prefill"
    assert offer.proposal.new[-2:] == ("--chunked-prefill-size", "8192")


def test_one_that_is_stopped_proposes_nothing(room: Room) -> None:
    run = wish(room)
    room.store.runs.ask_stop(run.id, "USAM")
    room.worker.carry_out(run.id)
    assert room.store.proposals.of_run(run.id) is None
    ended = room.store.runs.get(run.id)
    assert ended is not None
    assert ended.state == "stopped"
    assert "nothing was changed" in room.said()[-1]


def test_a_host_that_does_not_answer_is_told(room: Room) -> None:
    room.unreachable = "CT129 cannot be reached: connection refused"
    run = wish(room)
    room.worker.carry_out(run.id)
    assert "CT129 cannot be reached" in room.said()[0]
    assert room.store.proposals.of_run(run.id) is None


def test_a_wish_of_another_version_is_told_in_a_sentence(room: Room) -> None:
    run = wish(room, message='{"shape": "new"}')
    room.worker.carry_out(run.id)
    assert "Another version wrote down what was asked for" in room.said()[0]


def test_where_the_source_cannot_be_read_that_is_said(room: Room) -> None:
    room.more["ReadLauncher"] = launcher()
    answer = Output(stdout="not what a listing looks like")
    room.more[ListSource(words=("server_args",)).key] = answer
    run = wish(room)
    room.worker.carry_out(run.id)
    assert "Its flags are checked against what is known of SGLang 0.5.11" in room.said()[0]


def test_a_changed_host_is_proposed_for_anew_once(room: Room) -> None:
    begun: list[Run] = []
    anew = Anew(room.store, begun.append)
    run = wish(room, "x")
    letters = anew(run, proposal())
    assert "is not the one that was approved any more" in text_of(letters[0])
    (made,) = begun
    assert (made.kind, made.host, made.port, made.about) == ("proposal", "CT129", 30000, run.id)
    assert Wanted.model_validate_json(made.message).change == proposal().change
    assert anew(run, proposal())
    assert {one.id for one in begun} == {made.id}
    room.store.runs.end(made.id, "done")
    assert anew(run, proposal()) == ()


class _Suggesting:
    """A planner that asks nothing and would try something."""

    beyond = False

    def next(self, *_: object) -> Sequence[object]:
        return ()

    def remarks(self) -> Sequence[str]:
        return ()

    def exchanges_kept(self) -> list[dict[str, object]]:
        return []

    def changes(self) -> Sequence[Change]:
        return (WANTED.change, Change(set={"tp_size": 1}))


def test_what_a_model_would_try_is_proposed_to_people_and_never_approved_by_it(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bot.work.hosts import Hosts

    monkeypatch.setattr(Hosts, "_planner", lambda *_: _Suggesting())
    ts = room.say("why is CT129 slow?")
    room.work()
    cards = [one for one in room.letters(ts) if one.buttons == ("approve", "decline")]
    assert [one.parts[0].text for one in cards] == [  # type: ignore[union-attr]
        "Proposed for CT129:30000: --chunked-prefill-size 8192."
    ]
    assert "a model suggests it; nothing that was seen proves it" in text_of(cards[0])
    assert [run.kind for run in room.runs()] == ["host", "proposal"]
