"""The step model predicts what others measured, as well as it claims to."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

import pytest

from tests.physics.published import GPUS, Row, deployment_of, link_of
from tests.physics.refit import without
from tools.knowledge.calibration import calibration, half_widths
from tools.knowledge.links import link_data
from tools.physics import decode_step, prefill_rate
from tools.physics.fits import fits, fits_rate

TABLES = ("decode", "out_of_sample", "checked")


def error_pct(row: Row) -> float:
    return (decode_step(deployment_of(row)).ms.mid / row["measured_ms"] - 1) * 100


@pytest.mark.parametrize(
    ("table", "rows", "middle", "worst"),
    [("decode", 29, 6, 20), ("out_of_sample", 5, 10, 20), ("checked", 15, 10, 20)],
)
def test_a_table_of_published_steps_is_predicted_within_its_bounds(
    table: str, rows: int, middle: float, worst: float
) -> None:
    errors = [abs(error_pct(row)) for row in calibration()[table]]
    assert len(errors) == rows
    assert median(errors) <= middle
    assert max(errors) <= worst


def test_most_of_what_was_measured_lies_inside_the_interval() -> None:
    inside = []
    for row in (row for table in TABLES for row in calibration()[table]):
        ms = decode_step(deployment_of(row)).ms
        inside.append(ms.lo <= row["measured_ms"] <= ms.hi)
    for row in calibration()["prefill"]:
        rate = prefill_rate(deployment_of(row)).tok_s
        inside.append(rate.lo <= row["measured_tok_s"] <= rate.hi)
    assert sum(inside) >= 0.85 * len(inside)


def test_the_width_of_a_class_is_what_its_rows_show() -> None:
    for sm, width in half_widths().items():
        rows = [row for row in calibration()["decode"] if deployment_of(row).gpu.sm == sm]
        worst = max(abs(error_pct(row)) for row in rows) / 100
        floor = 0.12 if len(rows) == 1 else 0.08
        assert max(worst, floor) - 0.005 <= width <= max(worst, floor) + 0.035, sm


def test_a_class_that_was_left_out_is_predicted_within_what_an_unknown_class_is_given() -> None:
    errors = []
    for sm in half_widths():
        rows = [row for row in calibration()["decode"] if deployment_of(row).gpu.sm == sm]
        for row, ms in zip(rows, without(sm, rows), strict=True):
            errors.append(abs(ms / row["measured_ms"] - 1) * 100)
    assert len(errors) == 29
    assert median(errors) <= 10
    assert sum(error <= 20 for error in errors) >= 0.85 * len(errors)


@pytest.mark.parametrize("pair", link_data()["pairs"], ids=lambda pair: pair["case"])
def test_what_a_better_link_gains_is_predicted_within_thirty_percent(pair: Row) -> None:
    base = replace(deployment_of(pair), draft_forwards=pair["draft_forwards"])
    slow, fast = (decode_step(base.over(link_of(pair[end]))).ms.mid for end in ("slow", "fast"))
    assert 0.7 <= (slow - fast) / pair["measured_gain_ms"] <= 1.3


@pytest.mark.parametrize("row", calibration()["rejected"], ids=lambda row: row["case"])
def test_a_published_number_of_other_hardware_is_said_not_to_fit(row: Row) -> None:
    fit = fits(deployment_of(row), row["measured_ms"])
    assert not fit.fits
    assert row["hardware"]["gpu"] in fit.why
    assert "another card" in fit.why


def test_a_claim_is_judged_by_its_rate() -> None:
    row = calibration()["rejected"][2]
    assert "fit H20" in fits_rate(deployment_of(row), 20.7).why
    assert fits_rate(deployment_of(row), 45).fits
    too_fast = fits_rate(deployment_of(row), 70)
    assert "impossible" in too_fast.why
    assert "4,000 GB/s" in too_fast.why
    assert "fewer bytes" in fits_rate(deployment_of(row), 55).why


def test_every_published_number_that_is_used_fits() -> None:
    rows = [row for table in TABLES for row in calibration()[table]]
    assert sum(fits(deployment_of(row), row["measured_ms"]).fits for row in rows) >= 0.9 * len(rows)


def test_every_card_of_a_kind_of_memory_that_was_measured_reaches_the_same_share() -> None:
    shares = {
        GPUS[name].memory: GPUS[name].decode_fraction for name in ("A100 80GB SXM", "H100 SXM")
    }
    for gpu in GPUS.values():
        if gpu.memory in shares and "Instinct" not in gpu.name:
            assert gpu.decode_fraction == shares[gpu.memory], gpu.name
