"""What was tried is cited: with what it was measured, and how it ended."""

from __future__ import annotations

from bot.experiment.memory import tried
from bot.experiment.record import Judged, Record
from tests.experiment.pretend import proposal
from tools.change import Change

AT = 1_764_000_000.0  # 2025-11-24
CHUNK = Change(set={"chunked_prefill_size": 4096})


def record(phase: str = "restored", **more: object) -> Record:
    told = {
        "run": 1, "name": "n", "fence": 1, "proposal": proposal(change=CHUNK, **more), "phase": phase, "began_at": AT,
        "ended_at": AT, "judged": Judged(kept=False, why="No difference is shown."),
    }  # fmt: skip
    return Record.model_validate(told)


def lines(*records: Record, **asked: object) -> list[str]:
    told = {"host": "CT129", "model": "tiny", "version": "0.5.23", "change": CHUNK} | asked
    return [line.text for line in tried(records, **told)]  # type: ignore[arg-type]


def test_what_was_taken_back_is_cited_with_its_reason() -> None:
    assert lines(record()) == [
        "Tried before (2025-11-24): --chunked-prefill-size 4096 was taken back: No difference is shown."
    ]


def test_another_version_is_said() -> None:
    assert "(2025-11-24, with version 0.5.11)" in lines(record(version="0.5.11"))[0]


def test_another_model_here_is_said_and_elsewhere_does_not_count() -> None:
    assert "(2025-11-24, with big)" in lines(record(model="big"))[0]
    assert lines(record(model="big", host="CT130")) == []


def test_the_same_model_on_another_host_is_said() -> None:
    assert lines(record(host="CT130"))[0].startswith("Tried before on CT130 (2025-11-24)")


def test_other_flags_and_what_changed_nothing_are_not_cited() -> None:
    assert lines(record(), change=Change(set={"tp_size": 2})) == []
    assert lines(record("withdrawn"), record("needs_person")) == []


def test_of_a_host_all_is_told_but_three_at_the_most() -> None:
    assert len(lines(*[record() for _ in range(5)], change=None)) == 3
