"""Servers that stand still without a word in the log."""

from __future__ import annotations

import pytest

from tests.rules.conftest import Judged
from tools.engine import Launch, Metrics, ServerInfo
from tools.errors import Undecided
from tools.linux.machine import Process, Processes
from tools.rule import Cleared, Finding
from tools.rules.silence import process_is_stopped, schedulers_do_not_answer

LAUNCH = Launch(engine="sglang", pid=7, flags={"model_path": "m"})
IDLE = Metrics(deltas={"generation_tokens_total": 0.0}, window_s=2.0)


@pytest.mark.parametrize("state", ["T", "t"])
def test_a_stopped_scheduler_is_named_with_its_number(judged: Judged, state: str) -> None:
    rows = (
        Process(pid=7, name="python", state="S", server=True),
        Process(pid=8, name="sglang::schedul", state=state, server=True),
    )
    found = judged(process_is_stopped, Processes(rows=rows))
    assert isinstance(found, Finding)
    assert "sglang::schedul (8)" in found.statement


def test_a_stopped_process_that_is_not_the_servers_is_nobodys_hang(judged: Judged) -> None:
    rows = (Process(pid=9, name="vim", state="T"), Process(pid=7, state="S", server=True))
    assert isinstance(judged(process_is_stopped, Processes(rows=rows)), Cleared)


def test_schedulers_that_do_not_answer_while_other_pages_do_are_suspected(judged: Judged) -> None:
    with pytest.raises(Undecided) as doubt:
        judged(schedulers_do_not_answer, LAUNCH, IDLE)
    assert doubt.value.suspicion > 0.3
    assert "/health" in doubt.value.settle


@pytest.mark.parametrize(
    "launch",
    [
        LAUNCH.model_copy(update={"flags": {"api_key": "<dropped>"}}),
        LAUNCH.model_copy(update={"engine": "vllm"}),
    ],
)
def test_who_cannot_be_asked_is_hardly_suspected(judged: Judged, launch: Launch) -> None:
    with pytest.raises(Undecided) as doubt:
        judged(schedulers_do_not_answer, launch, IDLE)
    assert doubt.value.suspicion < 0.1


def test_tokens_and_answers_are_signs_of_life(judged: Judged) -> None:
    busy = Metrics(deltas={"generation_tokens_total": 40.0}, window_s=2.0)
    assert isinstance(judged(schedulers_do_not_answer, LAUNCH, busy), Cleared)
    info = ServerInfo(resolved={"model_path": "m"})
    assert isinstance(judged(schedulers_do_not_answer, LAUNCH, IDLE, info), Cleared)
