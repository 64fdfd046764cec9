"""The chart that goes with an experiment's result: all of it stands on the sheet, and its words tell the same."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest

from bot.charts.before_after import Beside, before_after_alt, before_after_png
from bot.charts.beside import beside_png
from tools.measure.difference import differences

EDGE_PX = 4
SETS: list[tuple[Sequence[float], Sequence[float]]] = [
    ((54.1, 54.9, 55.2), (61.2, 61.9, 62.0)),
    ((0.31, 0.32, 0.31), (0.33, 0.32, 0.33)),
    ((122_900.0, 123_300.0, 127_100.0), (127_000.0, 131_600.0, 132_000.0)),
    ((980_000.0, 1_019_000.0), (999_000.0, 1_000_100.0)),
    ((1_150.0, 1_170.0), (2_540.0, 2_560.0)),
    ((900_000.0, 910_000.0), (985_000.0, 990_000.0)),  # a tick stands at the right end
    ((1_000_100.0, 1_000_200.0), (1_300_000.0, 1_300_100.0)),
    ((12_300.0, 12_310.0), (99.0, 99.1)),
]
LONG = "output throughput of all sixteen streams together, tok/s"


def nothing_is_cut(png: bytes | None) -> bool:
    """Say whether the left and right edges of the sheet are blank."""
    image = pytest.importorskip("matplotlib.image")
    assert png
    sheet = image.imread(io.BytesIO(png))[:, :, :3]
    return bool((sheet[:, :EDGE_PX] == 1).all() and (sheet[:, -EDGE_PX:] == 1).all())


@pytest.mark.parametrize(("before", "after"), SETS)
@pytest.mark.parametrize("name", ["decode, 1 stream, tok/s", LONG])
def test_no_mark_and_no_number_runs_over_the_edge(
    before: Sequence[float], after: Sequence[float], name: str
) -> None:
    one = Beside(name, before, after, "1,204.3 % better")
    assert nothing_is_cut(before_after_png("ct129: a change of something", [one] * 3))


@pytest.mark.parametrize(("before", "after"), SETS)
def test_two_runs_that_are_compared_run_over_no_edge(
    before: Sequence[float], after: Sequence[float]
) -> None:
    for a, b in ((before, after), (after, before)):
        found = differences({LONG: a, "x, ms": (80.1, 80.2)}, {LONG: b, "x, ms": (80.0, 80.3)})
        assert nothing_is_cut(beside_png(found))


def test_a_title_that_is_too_long_says_that_it_goes_on() -> None:
    figure = [Beside("a", (1.0, 1.1), (2.0, 2.1), "better")]
    told = "ct129, --speculative-num-draft-tokens 4: " + "what was measured with it " * 12
    assert nothing_is_cut(before_after_png(told, figure))


def test_the_words_tell_large_values_in_full() -> None:
    one = Beside("output, tok/s", (123_450.0, 123_460.0), (130_000.0, 130_002.0), "5.3 % better")
    small = Beside("step, ms", (55.412, 55.414), (49.7, 49.7), "11.5 % better")
    assert before_after_alt("ct129: faster", [one, small]) == (
        "ct129: faster. output, tok/s: 123,455 in 2 runs before, 130,001 in 2 with the change,"
        " 5.3 % better. step, ms: 55.41 in 2 runs before, 49.7 in 2 with the change, 11.5 % better."
    )


def test_nothing_measured_in_both_is_no_picture() -> None:
    assert before_after_png("ct129: nothing", []) is None
