"""Whether two sets of runs differ, on noise that a real engine on a real, crowded machine made."""

from __future__ import annotations

import random
from math import exp, log
from pathlib import Path
from statistics import mean

import pytest

from tools.evidence import read_back
from tools.host import Output
from tools.measure.difference import (
    MISTAKEN,
    SOUGHT_PCT,
    Difference,
    differences,
    runs_needed,
)
from tools.measure.runs import figures
from tools.measure.student import cdf, quantile, spread_at_most
from tools.probes.benchmark import ReadBenchmark

RUNS = Path(__file__).parent / "runs_0_5_23_cpu.jsonl"
REPETITIONS = 100
CALM, BUSY = 0.1, 0.3  # of that noise: a machine that has nothing, or little else to do


@pytest.fixture(scope="module")
def noise() -> dict[str, list[float]]:
    """Each figure of 24 runs of one configuration, as a factor of its mean; whole runs stay together."""
    looks = [read_back(1, ReadBenchmark(), RUNS.name, Output(stdout=RUNS.read_text()))]
    found = figures(looks)
    assert [len(values) for values in found.values()] == [24, 24, 24]
    middle = {name: mean(map(log, values)) for name, values in found.items()}
    return {
        name: [exp(log(value) - middle[name]) for value in values] for name, values in found.items()
    }


def drawn(
    noise: dict[str, list[float]], runs: int, chance: random.Random, calm: float = 1.0
) -> dict[str, list[float]]:
    chosen = [chance.randrange(24) for _ in range(runs)]
    return {name: [100 * values[run] ** calm for run in chosen] for name, values in noise.items()}


def rate_of(found: tuple[Difference, ...]) -> Difference:
    return next(one for one in found if one.name.startswith("output rate"))


@pytest.mark.parametrize("runs", [3, 5, 10])
def test_two_sets_of_one_configuration_are_called_the_same(
    noise: dict[str, list[float]], runs: int
) -> None:
    chance = random.Random(runs)
    pairs = [(drawn(noise, runs, chance), drawn(noise, runs, chance)) for _ in range(REPETITIONS)]
    alike = sum(not any(one.differs for one in differences(a, b)) for a, b in pairs)
    assert alike >= 95


@pytest.mark.parametrize("calm", [CALM, BUSY], ids=["a calm machine", "a busy machine"])
def test_a_true_change_of_5_percent_is_found_with_the_runs_that_are_asked_for(
    noise: dict[str, list[float]], calm: float
) -> None:
    chance = random.Random(5)
    found = 0
    for _ in range(
        REPETITIONS
    ):  # the spread is known from six runs of each, as a person would have it
        first = differences(drawn(noise, 6, chance, calm), drawn(noise, 6, chance, calm))
        asked = rate_of(first).runs_for_5_pct
        assert asked
        a, b = drawn(noise, asked, chance, calm), drawn(noise, asked, chance, calm)
        slower = {
            name: [value * (1 + SOUGHT_PCT / 100) for value in values] for name, values in b.items()
        }
        told = rate_of(differences(a, slower))
        found += told.differs and told.change_pct > 0
    assert found >= 95


def test_what_was_shown_and_what_would_have_been_shown_stand_beside_each_other() -> None:
    a, b = {"x": [100.0, 101, 99, 102]}, {"x": [105.0, 104, 106, 107]}
    (told,) = differences(a, b)
    assert told.differs
    assert told.low_pct < told.change_pct < told.high_pct
    assert told.change_pct == pytest.approx(4.98, abs=0.01)
    assert told.low_pct > 0
    assert 3 < told.smallest_pct < 6
    assert told.runs_for_5_pct == runs_needed(log(1 + told.spread_pct / 100), 6, MISTAKEN)


def test_one_run_of_each_is_no_comparison_and_twins_are_no_difference() -> None:
    assert differences({"x": [1.0]}, {"x": [2.0]}) == ()
    assert differences({"x": [1.0, 1.0]}, {"y": [1.0, 1.0]}) == ()
    (same,) = differences({"x": [3.0, 3.0]}, {"x": [3.0, 3.0]})
    assert not same.differs
    (other,) = differences({"x": [3.0, 3.0]}, {"x": [4.0, 4.0]})
    assert other.differs


def test_a_spread_that_hides_5_percent_is_said_to() -> None:
    assert runs_needed(2.0, 10, MISTAKEN) is None
    few = runs_needed(0.01, 10, MISTAKEN)
    more = runs_needed(0.02, 10, MISTAKEN)
    assert few
    assert more
    assert few < more


@pytest.mark.parametrize(
    ("share", "df", "t"),
    [
        (0.975, 1, 12.706),
        (0.975, 10, 2.228),
        (0.995, 4, 4.604),
        (0.95, 2.5, 2.558),
        (0.975, 1e6, 1.96),
    ],
)
def test_students_t_is_that_of_the_tables(share: float, df: float, t: float) -> None:
    assert quantile(share, df) == pytest.approx(t, abs=0.001)
    assert cdf(t, df) == pytest.approx(share, abs=1e-4)
    assert cdf(-t, df) == pytest.approx(1 - share, abs=1e-4)


def test_few_values_may_underrate_their_spread() -> None:
    assert spread_at_most(2, 0.8) > spread_at_most(10, 0.8) > spread_at_most(100, 0.8) > 1
    assert spread_at_most(10, 0.8) == pytest.approx((10 / 6.179) ** 0.5, abs=0.02)
