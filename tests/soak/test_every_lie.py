"""Slow: run by `make soak`. A model that lies about every case; none turns a verdict, none is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.adversary import changes_no_verdict, enough_is_kept, lies_that_pass
from tests.agent.voices import CASES


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_a_lying_planner_changes_no_verdict(folder: Path) -> None:
    changes_no_verdict(folder)


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_no_lie_gets_into_the_text(folder: Path) -> None:
    assert lies_that_pass(folder) == []


def test_nine_of_ten_honest_sentences_stay() -> None:
    enough_is_kept(CASES, 1000)
