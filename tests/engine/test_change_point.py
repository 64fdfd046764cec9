"""Where a series changes its level: found, bounded, and not seen where there is none."""

from __future__ import annotations

import random

import pytest

from tools.engine.change_point import change, changes, shift_between


def noise(seed: int, lines: int, sigma: float = 0.03) -> list[float]:
    chance = random.Random(seed)
    return [chance.gauss(0, sigma) for _ in range(lines)]


def stepped(seed: int, *levels: tuple[int, float]) -> list[float]:
    told = [level for lines, level in levels for _ in range(lines)]
    return [level + error for level, error in zip(told, noise(seed, len(told)), strict=True)]


def test_a_step_is_found_where_it_is() -> None:
    found = change(stepped(1, (120, 0.0), (80, 0.15)), ["a"] * 200, 0.08)
    assert found is not None
    assert found.low <= 120 <= found.high
    assert found.high - found.low <= 5
    assert found.shift_low < 0.15 < found.shift_high
    assert found.shift_high - found.shift_low < 0.05


@pytest.mark.parametrize(
    "values",
    [
        noise(1, 200),
        [0.0] * 200,
        [0.0] * 100 + [5.0] + [0.0] * 99,
        stepped(2, (120, 0.0), (80, 0.05)),
        stepped(3, (190, 0.0), (6, 0.3)),
        [],
        [1.0],
    ],
    ids=["noise", "constant", "outlier", "too small", "too short", "nothing", "one"],
)
def test_no_step_is_seen_where_none_lasts_or_matters(values: list[float]) -> None:
    assert change(values, ["a"] * len(values), 0.08) is None


def test_a_load_that_changes_is_no_change_of_the_series() -> None:
    values = stepped(4, (100, 0.0), (100, 0.5))
    assert change(values, ["few"] * 100 + ["many"] * 100, 0.08) is None
    assert change(values, ["all"] * 200, 0.08) is not None


def test_a_step_is_found_through_loads_that_take_turns() -> None:
    levels = [0.5 * (at % 3) + (0.15 if at >= 130 else 0.0) for at in range(240)]
    values = [a + b for a, b in zip(levels, noise(5, 240), strict=True)]
    found = change(values, [at % 3 for at in range(240)], 0.08)
    assert found is not None
    assert found.low <= 130 <= found.high
    assert found.shift == pytest.approx(0.15, abs=0.02)


def test_noise_that_remembers_makes_wider_bounds() -> None:
    def wandering(memory: float) -> list[float]:
        error, found = 0.0, []
        for at, new in enumerate(noise(6, 400, 0.03 * (1 - memory**2) ** 0.5)):
            error = memory * error + new
            found.append(error + (0.3 if at >= 200 else 0.0))
        return found

    short, long = (change(wandering(memory), ["a"] * 400, 0.08) for memory in (0.0, 0.8))
    assert short is not None
    assert long is not None
    assert long.alike > 2 * short.alike
    assert long.shift_high - long.shift_low > 1.4 * (short.shift_high - short.shift_low)


def test_several_steps_are_told_in_order() -> None:
    values = stepped(7, (100, 0.0), (100, 0.2), (100, 0.0), (100, 0.4))
    found = changes(values, ["a"] * 400, 0.08)
    assert [round(one.shift, 1) for one in found] == [0.2, -0.2, 0.4]
    assert [abs(one.before - at) <= 2 for one, at in zip(found, (100, 200, 300), strict=True)]
    assert shift_between((values[:100], ["a"] * 100), (values[300:], ["a"] * 100)) == pytest.approx(
        0.4, abs=0.02
    )


def test_stretches_without_a_common_load_are_not_compared() -> None:
    assert shift_between(([1.0], ["a"]), ([2.0], ["b"])) is None
