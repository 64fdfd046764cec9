"""A verdict cites what was tried on its host before."""

from __future__ import annotations

from bot.experiment.record import Judged, Record
from tests.experiment.pretend import proposal
from tests.work.room import Room
from tools.change import Change


def remembered(room: Room, host: str) -> None:
    fence = room.store.experiments.take(host, 30000, 1)
    told = {
        "run": 1, "name": "n", "fence": fence, "phase": "restored", "began_at": 1.0, "ended_at": 1_764_000_000.0,
        "proposal": proposal(host=host, change=Change(set={"chunked_prefill_size": 4096})),
        "judged": Judged(kept=False, why="No difference is shown."),
    }  # fmt: skip
    room.store.experiments.save(Record.model_validate(told))
    room.store.experiments.give_back(host, 30000, 1)


def test_a_verdict_cites_what_was_tried_on_its_host_and_on_no_other(room: Room) -> None:
    remembered(room, "ct129")
    for host in ("CT129", "CT130"):
        room.say(f"why is {host} slow?")
    room.work()
    said = [text for text in room.said() if "Tried before" in text]
    assert len(said) == 1
    assert (
        "Tried before (2025-11-24): --chunked-prefill-size 4096 was taken back: No difference is shown."
        in said[0]
    )
    assert len(room.said()) > 2
