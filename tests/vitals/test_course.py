"""A change of a host's days is found when it is one, and never where there is none."""

from __future__ import annotations

from random import Random

import pytest

from tools.vitals.course import Day, shift

FLOOR_PCT = 4.0
SEEDS = range(25)
DAYS = 60


def days(values, settings=None):
    settings = settings or ["v1"] * len(values)
    return [
        Day(f"2026-{1 + n // 28:02}-{1 + n % 28:02}", value, setting)
        for n, (value, setting) in enumerate(zip(values, settings, strict=True))
    ]


def found_on(told, first=7):
    """The first day on which something is reported, counted from 0; None: never."""
    return next(
        (n for n in range(first, len(told)) if shift(told[: n + 1], floor_pct=FLOOR_PCT)), None
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_a_decline_of_two_percent_a_day_is_found_within_three_days_and_called_one(seed):
    rng = Random(seed)
    values = [
        60 * (1 + rng.gauss(0, 0.005)) * 0.98 ** max(0, n - 29) for n in range(DAYS)
    ]  # day 30 is the first that is lower
    told = days(values)
    at = found_on(told)
    assert at is not None
    assert 30 <= at <= 32
    later = shift(told[:38], floor_pct=FLOOR_PCT)
    assert later is not None
    assert later.kind == "decline"
    assert later.pct_a_day is not None
    assert -2.6 < later.pct_a_day < -1.3


@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_after_a_change_of_version_is_found_on_the_day_and_bounded(seed):
    rng = Random(seed)
    values = [60 * (1 + rng.gauss(0, 0.01)) * (0.9 if n >= 30 else 1) for n in range(DAYS)]
    told = days(values, ["v1"] * 30 + ["v2"] * 30)
    assert found_on(told) == 30
    one = shift(told[:31], floor_pct=FLOOR_PCT)
    assert one is not None
    assert one.setting_changed
    assert one.since == told[30].date
    assert one.kind == "step"
    assert one.pct_low < -10 < one.pct_high


@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_that_nothing_explains_is_found_on_the_second_day_or_the_third(seed):
    rng = Random(seed)
    values = [60 * (1 + rng.gauss(0, 0.01)) * (0.85 if n >= 30 else 1) for n in range(DAYS)]
    assert found_on(days(values)) in (31, 32)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("noise", [0.05, 0.15, 0.3])
def test_a_noisy_host_is_never_reported(seed, noise):
    rng = Random(seed)
    values = [60 * max(0.05, 1 + rng.gauss(0, noise)) for _ in range(DAYS)]
    assert found_on(days(values)) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_a_host_with_quiet_weekends_is_never_reported(seed):
    rng = Random(seed)
    values = [60 * (1 + rng.gauss(0, 0.01)) * (0.8 if n % 7 > 4 else 1) for n in range(DAYS)]
    assert found_on(days(values)) is None


def test_a_host_that_never_changes_is_never_reported_and_a_thousandth_is_no_change():
    assert found_on(days([60.0] * DAYS)) is None
    assert found_on(days([60.0] * 30 + [59.94] * 30)) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_one_odd_day_is_no_change(seed):
    rng = Random(seed)
    values = [60 * (1 + rng.gauss(0, 0.01)) * (0.5 if n == 35 else 1) for n in range(DAYS)]
    assert found_on(days(values)) is None


def test_what_became_normal_is_news_no_more():
    rng = Random(3)
    values = [60 * (1 + rng.gauss(0, 0.01)) * (0.85 if n >= 20 else 1) for n in range(DAYS)]
    told = days(values)
    assert shift(told[:28], floor_pct=FLOOR_PCT) is not None
    assert shift(told, floor_pct=FLOOR_PCT) is None


def test_days_under_another_load_are_not_compared():
    quiet = [Day(f"d{n:02}", 60.0 + n % 3 / 10, "v1", "1 running") for n in range(20)]
    busy = [Day(f"e{n:02}", 30.0, "v1", "8 running") for n in range(3)]
    assert shift([*quiet, *busy], floor_pct=FLOOR_PCT) is None


def test_nothing_is_said_of_too_few_days():
    assert shift([], floor_pct=FLOOR_PCT) is None
    assert shift(days([60.0] * 5 + [30.0]), floor_pct=FLOOR_PCT) is None
