"""How a gain is told: percent below a factor of two, times above it, always with its interval."""

from __future__ import annotations

import pytest

from bot.narrator.gained import changed, gain, instead, times, within


@pytest.mark.parametrize(
    ("pct", "unit", "told"),
    [
        (-25.0, "ms", "−25.0 %"),
        (25.0, "ms", "+25.0 %"),
        (-49.9, "ms", "−49.9 %"),
        (-50.0, "ms", "2 times faster"),
        (-98.6, "ms", "71 times faster"),
        (300.0, "ms", "4 times slower"),
        (99.9, "tok/s", "+99.9 %"),
        (7045.9, "tok/s", "71 times as much"),
        (-80.0, "tok/s", "5 times less"),
        (-100.0, "ms", "1,000,000 times faster"),
    ],
)
def test_a_figure_that_changed(pct: float, unit: str, told: str) -> None:
    assert changed(pct, unit) == told


def test_the_interval_has_the_form_of_its_middle() -> None:
    assert within(-26.1, -25.0, -23.9, "ms") == "−26.1 to −23.9 %"
    assert within(-98.8, -98.6, -98.3, "ms") == "59 to 83 times"
    assert within(80.0, 120.0, 160.0, "tok/s") == "1.8 to 2.6 times"
    assert within(2890.0, 2900.0, 2910.0, "tok/s") == "29.9 to 30.1 times"
    assert within(-0.04, 0.02, 0.3, "ms") == "0.0 to +0.3 %"
    assert within(-60.0, -55.0, -40.0, "ms") == "1.67 to 2.5 times"


def test_a_prediction_of_a_rate() -> None:
    assert gain((15.0, 20.0, 25.0)) == "+20 % (+15 to +25)"
    assert gain((25.0, 150.0, 900.0)) == "2.5 times as fast (1.25 to 10)"
    assert gain((145.0, 150.0, 155.0)) == "2.5 times as fast (2.45 to 2.55)"
    assert gain((-5.0, 0.0, 4.0)) == "0 % (−5 to +4)"


def test_figures_and_factors_are_as_exact_as_they_are_worth() -> None:
    assert instead(880.4, 12.34, "ms") == "12.3 ms instead of 880 ms"
    assert instead(1431.0, 1520.4, "tok/s") == "1,520 tok/s instead of 1,431 tok/s"
    assert [times(one) for one in (1.0, 1.25, 2.04, 9.96, 71.7, 12345.0)] == [
        "1", "1.25", "2", "10", "72", "12,345",
    ]  # fmt: skip
