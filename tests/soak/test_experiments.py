"""An experiment whose bot, line or database fails at each transition: one healthy server is left, as the record says.

A disk that is full is a tmpfs of 16 MB that is filled up; a database that is read-only says so by SQLite's query_only.
"""

from __future__ import annotations

import itertools
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest

from tests.experiment.struck import Case, may_mount
from tests.experiment.worker import Fault

AT_ONCE = 5
COURSE = (
    "arming",
    "before",
    "draining",
    "stopping",
    "starting",
    "verifying",
    "after",
    "keeping",
    "kept",
)
BACK = ("restoring", "restored")
LONG_S = Case.bounds.silence_s + 3

KILLS = [
    Fault("kill", at, when, away_s, hurts)
    for hurts, phases in ((False, COURSE), (True, BACK))
    for at in phases
    for when in ("before", "after")
    for away_s in (0.0, LONG_S)
]
LINES = [
    Fault(kind, at, "after", for_s, hurts)
    for hurts, phases in ((False, COURSE[:-1]), (True, BACK[:1]))
    for at in phases
    for kind, for_s in (("cut", 0.0), ("sshd", 1.0), ("sshd", LONG_S))
]  # fmt: skip
BOOKS = [
    Fault(kind, at, "before", for_s, hurts)
    for hurts, phases in ((False, COURSE), (True, BACK))
    for at in phases
    for kind in ("readonly", "full")
    for for_s in (1.0, LONG_S)
]


@pytest.fixture(scope="module")
def context() -> ForkServerContext:
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["tests.experiment.worker"])
    return made


# One of each kind, in turn, over all transitions: what `make soak` has time for.
SOME = [
    next(one for one in faults if one.at == at)
    for at, faults in zip(
        (*COURSE, *BACK),
        itertools.cycle((KILLS, BOOKS[::-1], LINES + KILLS, BOOKS, LINES[::-1] + KILLS)),
        strict=False,
    )
]


def struck(faults: Sequence[Fault], folder: Path, context: ForkServerContext) -> list[str]:
    cases = [Case(fault, folder / f"{number}", context) for number, fault in enumerate(faults)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [trouble for trouble in pool.map(Case.run, cases) if trouble]


def test_a_fault_at_each_transition(tmp_path: Path, context: ForkServerContext) -> None:
    if why := may_mount():
        pytest.skip(why)
    assert struck(SOME, tmp_path, context) == []


@pytest.mark.long
def test_a_bot_that_is_killed_at_any_transition(tmp_path: Path, context: ForkServerContext) -> None:
    assert struck(KILLS, tmp_path, context) == []


@pytest.mark.long
def test_a_line_that_is_cut_and_an_sshd_that_is_stopped(
    tmp_path: Path, context: ForkServerContext
) -> None:
    assert struck(LINES, tmp_path, context) == []


@pytest.mark.long
def test_a_database_that_is_read_only(tmp_path: Path, context: ForkServerContext) -> None:
    assert struck([one for one in BOOKS if one.kind == "readonly"], tmp_path, context) == []


@pytest.mark.long
def test_a_database_whose_disk_is_full(tmp_path: Path, context: ForkServerContext) -> None:
    if why := may_mount():
        pytest.skip(why)
    assert struck([one for one in BOOKS if one.kind == "full"], tmp_path, context) == []


def test_there_are_enough_of_them() -> None:
    assert len(KILLS) + len(LINES) + len(BOOKS) >= 100
