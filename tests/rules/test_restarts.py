"""Servers that fail to start again and again, and runs that crashed before this one."""

from __future__ import annotations

import pytest

from tests.engine.simulated import start
from tests.engine.test_runs import died, good, read
from tests.rules.conftest import Judged
from tools.errors import Undecided
from tools.evidence import Evidence
from tools.judgement import Confirmed
from tools.knowledge import CAUSES
from tools.known import Known
from tools.probes import PROBES
from tools.rule import Cleared, Finding
from tools.rules import RULES, restarts
from tools.verdict import Interest, judge

LOOP, BEFORE = restarts.RULES


def failed(second: float, backend: str = "fa3") -> list[str]:
    return [*start(second, backend=backend, ready=False), *died(second + 45)]


def test_starts_that_fail_since_the_arguments_changed_name_the_arguments(judged: Judged) -> None:
    found = judged(LOOP, read(good(0), *(failed(400 + 60 * at, "triton") for at in range(3))))
    assert isinstance(found, Finding)
    assert "3 start(s) in a row failed in the same way" in found.statement
    assert "CUDA out of memory" in found.statement
    assert "--attention-backend triton instead of fa3" in found.statement


def test_starts_that_fail_with_the_same_arguments_are_no_fault_of_theirs(judged: Judged) -> None:
    with pytest.raises(Undecided, match="served with the same arguments"):
        judged(LOOP, read(good(0), failed(400), failed(500)))
    with pytest.raises(Undecided, match="no run in this log served"):
        judged(LOOP, read(failed(400), failed(500)))


def test_one_start_that_fails_is_judged_by_its_own_end(judged: Judged) -> None:
    assert judged(LOOP, read(failed(400))) is None
    assert judged(LOOP, read(good(0), good(400))) is None


def test_one_crash_before_is_past_and_two_are_a_pattern(judged: Judged) -> None:
    assert isinstance(judged(BEFORE, read(good(0), died(280), good(400))), Cleared)
    with pytest.raises(Undecided, match="2 runs in this log ended by themselves"):
        judged(BEFORE, read(good(0), died(280), good(400), died(680), good(800)))
    assert judged(BEFORE, read(good(0), good(400))) is None


def test_a_question_about_speed_is_answered_by_the_run_that_served() -> None:
    log = read(good(0), good(400, 26.0, "triton"), failed(900, "triton"))
    look = Evidence("E1", None, "a file", None, log)
    verdict = judge([look], RULES, PROBES, Interest(aspects=frozenset({"decode"})))
    assert verdict.cause == "became_slower_over_time"
    assert verdict.headline.startswith(
        "The last start, at 2026-09-02 13:15:00, never became ready. Of the run from 2026-09-02 13:06:40"
    )
    assert "gpu_out_of_memory" in {one.rule.cause.id for one in verdict.findings}
    why = {one.rule.cause.id: one.why for one in verdict.ruled_out}
    assert "50 of 50 Decode lines show 'cuda graph: True'" in why["cuda_graph_disabled"]


def test_a_question_about_the_start_is_answered_by_the_last_start() -> None:
    look = Evidence(
        "E1", None, "a file", None, read(good(0), good(400, 26.0, "triton"), failed(900, "triton"))
    )
    verdict = judge([look], RULES, PROBES, Interest(aspects=frozenset({"start"})))
    assert verdict.cause == "gpu_out_of_memory"
    assert not verdict.headline.startswith("The last start")
    assert all(isinstance(one, Confirmed) for one in verdict.findings)
    assert CAUSES["gpu_out_of_memory"].stops


def test_what_is_known_is_the_same_where_the_last_run_serves() -> None:
    known = Known([Evidence("E1", None, "a file", None, read(good(0), good(400)))])
    assert known.of_serving() is known
    assert known.run_judged == ""
