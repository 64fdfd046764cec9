"""Intervals of what was measured: a prompt counts once, and two rates part only beyond their spread."""

from __future__ import annotations

import math

import pytest

from tools.comparison.gain import Gain, added, minus, of_percents, percents, turned
from tools.comparison.rate import Rate, spread
from tools.physics.interval import Interval


def test_lines_of_one_prompt_count_once() -> None:
    one_long = spread([[50.0] * 500, [60.0], [61.0], [62.0]])
    assert one_long
    assert (one_long.lo, one_long.hi) == (50.0, 62.0)


def test_many_samples_narrow_the_interval() -> None:
    few = spread([[float(n)] for n in range(95, 106)])
    many = spread([[float(95 + n % 11)] for n in range(1100)])
    assert few
    assert many
    assert many.hi - many.lo < few.hi - few.lo
    assert few.lo <= few.mid <= few.hi


def test_of_one_prompt_all_its_lines_are_the_interval_and_of_none_there_is_none() -> None:
    assert spread([[50.0, 51.0, 55.0]]) == Interval(50.0, 51.0, 55.0)
    assert spread([]) is None
    assert spread([[]]) is None


@pytest.mark.parametrize(
    ("here", "there", "floor", "apart"),
    [
        ((99, 100, 101), (109, 110, 111), 0.01, True),
        ((90, 100, 110), (95, 105, 115), 0.01, False),
        ((99.9, 100, 100.1), (100.4, 100.5, 100.6), 0.01, False),
    ],
)
def test_rates_part_beyond_their_spread_and_beyond_what_two_runs_differ_by(
    here: tuple[float, ...], there: tuple[float, ...], floor: float, apart: bool
) -> None:
    rate = Rate("decode", "tok/s", Interval(*here), Interval(*there), floor)
    assert rate.apart is apart
    assert rate.turned().apart is apart


def test_of_a_time_less_is_more() -> None:
    rate = Rate("step", "ms", Interval(58, 58, 58), Interval(56, 56, 56), 0.01, time=True)
    assert rate.gain
    assert rate.gain.mid == pytest.approx(math.log(58 / 56))


def test_what_is_not_comparable_or_stands_at_nothing_has_no_gain() -> None:
    some = Interval(1, 1, 1)
    assert Rate("x", "", some, some, 0.0, incomparable="other prompts").gain is None
    assert Rate("x", "", Interval(0, 0, 0), some, 0.0).gain is None
    assert Rate("x", "", None, some, 0.0).gain is None


def test_gains_add_and_turn_round() -> None:
    half = of_percents((-50.0, -50.0, -50.0))
    assert percents(added([half, half])).mid == pytest.approx(-75)
    assert percents(turned(half)).mid == pytest.approx(100)
    assert minus(half, half).mid == 0
    assert of_percents((-100.0, -100.0, -100.0)).lo > -10, "a rate that is lost has no logarithm"
    assert Gain(decode=half).turned().decode == turned(half)
    assert Gain().most == 0
