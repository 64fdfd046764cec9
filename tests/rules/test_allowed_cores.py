"""Cores that the engine may use: full, not full, and another process's."""

from __future__ import annotations

from tools.linux.machine import Machine, Process, Processes
from tools.rule import Cleared, Finding
from tools.rules.core_shortage import allowed_cores_are_full

PINNED = Machine(cpus=16, cpus_allowed="0,8")


def workers(count, cpu_pct, name="ray::RayWorkerV"):
    return Processes(
        rows=tuple(Process(pid=10 + n, name=name, cpu_pct=cpu_pct) for n in range(count))
    )


def test_eight_workers_on_two_full_cores_are_the_cause(judged):
    found = judged(allowed_cores_are_full, PINNED, workers(8, 24.5))
    assert isinstance(found, Finding)
    assert found.category == "config"
    assert "8 processes of the engine may use 2 of 16" in found.statement


def test_allowed_cores_that_are_half_used_are_not(judged):
    assert isinstance(judged(allowed_cores_are_full, PINNED, workers(8, 12.0)), Cleared)


def test_a_list_that_the_engine_does_not_keep_to_is_another_process_s(judged):
    assert isinstance(judged(allowed_cores_are_full, PINNED, workers(8, 90.0)), Cleared)


def test_a_core_for_each_process_is_enough(judged):
    four = Machine(cpus=16, cpus_allowed="0-3")
    assert judged(allowed_cores_are_full, four, workers(4, 98.0)) is None


def test_full_cores_of_other_programs_say_nothing(judged):
    assert judged(allowed_cores_are_full, PINNED, workers(8, 24.5, "cc1plus")) is None
