"""The keep rule at its edges: better, worse, chance, drift, errors, and figures that are missing."""

from __future__ import annotations

import pytest

from bot.experiment.judging import gains, judged
from bot.experiment.record import Measured
from tools.change import KeepRule
from tools.measure.difference import differences

STEP, FOUR = "step with one stream, ms", "step with 4 streams, ms"
COLD, RATE, FIRST = "cold prefill, tok/s", "output rate, tok/s", "first token, ms"
SPREAD = (0.999, 1.001, 1.0, 1.0005, 0.9995)


def measured(figures: dict[str, float], **more: object) -> Measured:
    """Five runs around each figure, with a tenth of a percent of spread."""
    told = {name: tuple(value * one for one in SPREAD) for name, value in figures.items()}
    return Measured.model_validate({"figures": told, "runs": 5} | more)


def test_better_by_more_than_is_asked_for_is_kept() -> None:
    told = judged(KeepRule(goal="decode"), measured({STEP: 20.0}), measured({STEP: 19.0}))
    assert told.kept
    assert told.why.startswith(
        "Step with one stream is better: 19.0 ms instead of 20.0 ms (−5.0 %, −5.1 to −4.9 %)."
    )
    assert told.gain_pct
    assert told.gain_pct[1] == pytest.approx(100 * (20 / 19 - 1), abs=0.01)


@pytest.mark.parametrize(("gain_pct", "kept"), [(3.2, True), (2.8, False)])
def test_the_edge_of_what_is_asked_for(gain_pct: float, *, kept: bool) -> None:
    after = measured({RATE: 1000 * (1 + gain_pct / 100)})
    told = judged(KeepRule(goal="throughput"), measured({RATE: 1000.0}), after)
    assert told.kept is kept
    if not kept:
        assert "and 3 % is asked for" in told.why


def test_a_gain_with_something_else_worse_is_not_kept() -> None:
    before = measured({STEP: 20.0, COLD: 5000.0})
    told = judged(KeepRule(goal="decode"), before, measured({STEP: 15.0, COLD: 4000.0}))
    assert not told.kept
    assert told.why.startswith("Cold prefill is worse: 4,000 tok/s instead of 5,000 tok/s (−20.0 %")


def test_something_else_that_is_worse_by_less_than_is_allowed_does_no_harm() -> None:
    before = measured({STEP: 20.0, COLD: 5000.0})
    assert judged(KeepRule(goal="decode"), before, measured({STEP: 15.0, COLD: 4900.0})).kept


def test_what_chance_can_make_is_not_kept_and_says_what_would_have_shown() -> None:
    before = Measured(figures={STEP: (20.0, 24.0, 17.0, 22.0, 19.0)}, runs=5)
    after = Measured(figures={STEP: (18.0, 17.0, 22.0, 20.0, 19.0)}, runs=5)
    told = judged(KeepRule(goal="decode"), before, after)
    assert not told.kept
    assert told.smallest_pct
    assert told.why == (
        f"No difference is shown: 5 and 5 runs would have shown {told.smallest_pct:g} % in step with one stream."
    )


def test_a_drift_that_could_be_the_change_is_not_kept() -> None:
    before = Measured(figures={RATE: (80.0, 84.0, 88.0, 92.0, 96.0)}, runs=5)
    told = judged(KeepRule(goal="throughput"), before, measured({RATE: 110.0}))
    assert not told.kept
    assert "drifted by +20.0 % within the runs before the change" in told.why


def test_a_small_drift_beside_a_large_change_does_no_harm() -> None:
    before = Measured(figures={RATE: (80.0, 80.3, 80.6, 80.9, 81.2)}, runs=5)
    assert judged(KeepRule(goal="throughput"), before, measured({RATE: 160.0})).kept


def test_errors_with_the_change_are_never_kept() -> None:
    after = measured({STEP: 1.0}, errors=1, trouble="1 request of the load failed")
    told = judged(KeepRule(goal="decode"), measured({STEP: 20.0}), after)
    assert not told.kept
    assert told.why == "With the change the load failed: 1 request of the load failed."


def test_a_goal_that_was_not_measured_is_not_kept() -> None:
    told = judged(KeepRule(goal="ttft"), measured({STEP: 20.0}), measured({STEP: 10.0}))
    assert not told.kept
    assert told.why == "No figure of time to first token was measured in both, so nothing is shown."


def test_one_better_figure_of_the_goal_is_enough_if_the_others_are_not_worse() -> None:
    before, after = measured({STEP: 20.0, FOUR: 30.0}), measured({STEP: 20.0, FOUR: 20.0})
    assert judged(KeepRule(goal="decode"), before, after).why.startswith("Step with 4 streams")
    worse = measured({STEP: 25.0, FOUR: 20.0})
    assert not judged(KeepRule(goal="decode"), before, worse).kept


@pytest.mark.parametrize("name", [FIRST, RATE])
def test_a_time_that_halves_and_a_rate_that_doubles_are_the_same_gain(name: str) -> None:
    after = 0.5 if name == FIRST else 2.0
    (one,) = differences({name: (100.0, 101.0)}, {name: (100 * after, 101 * after)})
    low, middle, high = gains(one)
    assert middle == pytest.approx(100, abs=0.1)
    assert low < middle < high


def test_a_time_that_falls_by_far_is_told_as_times_with_its_interval() -> None:
    told = judged(KeepRule(goal="ttft"), measured({FIRST: 880.0}), measured({FIRST: 12.3}))
    assert told.kept
    assert (
        told.why
        == "First token is better: 12.3 ms instead of 880 ms (72 times faster, 71 to 72 times)."
    )
