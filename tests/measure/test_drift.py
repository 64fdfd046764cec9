"""Runs that move by themselves are told from runs that stand still."""

from __future__ import annotations

import random
from math import exp

import pytest

from tools.measure.drift import MISTAKEN, drift


def test_runs_that_get_slower_one_by_one_drift() -> None:
    assert drift([100.0, 97.1, 94.0, 91.2, 88.0]) == pytest.approx(-11.9, abs=0.5)


def test_runs_that_stand_still_do_not_drift() -> None:
    assert drift([100.0, 101.0, 99.5, 100.4, 99.8]) is None
    assert drift([100.0] * 5) is None


def test_three_runs_tell_nothing() -> None:
    assert drift([100.0, 90.0, 80.0]) is None


def test_of_runs_that_stand_still_about_as_many_are_called_drifting_as_is_said() -> None:
    chance = random.Random(7)
    sets = [[exp(chance.gauss(0, 0.03)) for _ in range(5)] for _ in range(4000)]
    share = sum(drift(one) is not None for one in sets) / len(sets)
    assert share == pytest.approx(MISTAKEN, abs=0.008)
