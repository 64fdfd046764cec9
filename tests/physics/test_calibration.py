"""The step model predicts what others measured, as well as it claims to."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import median

import pytest

from tests.physics.configs import QWEN27
from tests.physics.published import GPUS, Row, deployment_of, link_of
from tests.physics.refit import fitted, without
from tools.knowledge.calibration import calibration, half_widths
from tools.knowledge.links import link_data
from tools.physics import Checkpoint, decode_step, prefill_rate
from tools.physics.fits import fits, fits_rate
from tools.physics.kernels import kernels
from tools.physics.reading import weights_gb

TABLES = ("decode", "out_of_sample", "checked")


def error_pct(row: Row) -> float:
    return (decode_step(deployment_of(row)).ms.mid / row["measured_ms"] - 1) * 100


@pytest.mark.parametrize(
    ("table", "rows", "middle", "worst"),
    [("decode", 29, 6, 20), ("out_of_sample", 5, 10, 23), ("checked", 54, 10, 55)],
)
def test_a_table_of_published_steps_is_predicted_within_its_bounds(
    table: str, rows: int, middle: float, worst: float
) -> None:
    errors = [abs(error_pct(row)) for row in calibration()[table]]
    assert len(errors) == rows
    assert median(errors) <= middle
    assert max(errors) <= worst


def test_a_row_that_is_missed_by_more_than_twenty_percent_says_why_and_no_other_does() -> None:
    for row in (row for table in TABLES for row in calibration()[table]):
        assert (abs(error_pct(row)) > 20) == ("missed" in row), row["case"]


def test_no_row_that_was_tuned_on_is_missed_and_one_of_those_that_must_not_be() -> None:
    missed = {table: [r for r in calibration()[table] if "missed" in r] for table in TABLES}
    assert not missed["decode"]
    assert [row["case"] for row in missed["out_of_sample"]] == [
        "Qwen3-4B bf16, RTX PRO 6000, SGLang"
    ]


def test_the_row_that_is_missed_would_need_more_than_its_memory_gives() -> None:
    rows = {row["case"]: row for table in TABLES for row in calibration()[table]}
    row = rows["Qwen3-4B bf16, RTX PRO 6000, SGLang"]
    needed = weights_gb(deployment_of(row)) / row["measured_ms"] * 1e3
    given = {read["gpu"]: read["gb_s"] for read in calibration()["reads"]}
    assert f"{needed:,.0f} GB/s" in row["missed"]
    assert needed > 1.05 * given["RTX PRO 6000 Blackwell Max-Q"]
    for engine in ("SGLang", "vLLM"):
        same = rows[f"Qwen3-4B bf16, RTX 5090, {engine}"]
        assert abs(error_pct(same)) < 5
        assert f"{same['measured_ms']:.2f}" in row["missed"]


def test_the_row_that_is_missed_contradicts_another_of_its_own_page() -> None:
    """With as many kernels, a step cannot grow by more than the bytes that it reads."""
    rows = {row["case"]: row for table in TABLES for row in calibration()[table]}
    small, large = (rows[f"Qwen3-{size} bf16, RTX PRO 6000, SGLang"] for size in ("4B", "8B"))
    assert small["source"] == large["source"]
    assert kernels(deployment_of(small)) == kernels(deployment_of(large))
    longer = large["measured_ms"] / small["measured_ms"]
    heavier = weights_gb(deployment_of(large)) / weights_gb(deployment_of(small))
    assert f"{longer:.2f} times as long for {heavier:.2f} times the bytes" in small["missed"]
    assert longer > 1.2 * heavier
    impossible = [row for row in calibration()["rejected"] if row["source"] == small["source"]]
    assert ["impossible" in fits(deployment_of(r), r["measured_ms"]).why for r in impossible] == [
        True
    ]


@pytest.mark.parametrize("read", calibration()["reads"], ids=lambda read: read["source"]["name"])
def test_memory_that_is_only_read_gives_about_the_share_that_the_model_takes(read: Row) -> None:
    gpu = GPUS[read["gpu"]]
    assert read["gb_s"] / gpu.bandwidth_gb_s == pytest.approx(gpu.decode_fraction, abs=0.065)


def test_each_kind_of_gddr_by_itself_shows_the_share_that_all_are_given() -> None:
    gddr = [row for row in calibration()["decode"] if not deployment_of(row).gpu.hbm]
    for kind, classes in (("gddr6x", ("8.6", "8.9")), ("gddr7", ("12.0",))):
        rows = [row for row in gddr if deployment_of(row).gpu.sm in classes]
        assert {deployment_of(row).gpu.memory for row in rows} == {kind}
        slowness, _ = fitted(rows)
        for gpu in GPUS.values():
            if gpu.memory == kind:
                assert gpu.decode_fraction == pytest.approx(1 / slowness, abs=0.01), gpu.name


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
        told, every = [], []
        for table in ("decode", "checked"):
            for row in calibration()[table]:
                if deployment_of(row).gpu.sm == sm and not deployment_of(row).checkpoint.sparse:
                    off = abs(100 / (100 + error_pct(row)) - 1)
                    every.append(off)
                    told += [off] if table == "decode" else []
        worst, floor = max(told, default=0.0), 0.12 if len(told) <= 1 else 0.08
        least = max(worst, floor, sorted(every)[math.ceil(0.75 * len(every)) - 1])
        assert least - 0.025 <= width <= least + 0.035, sm


def test_three_in_four_of_all_rows_of_a_class_lie_inside_its_width() -> None:
    beside: dict[str, list[bool]] = {}
    for row in (row for table in TABLES for row in calibration()[table]):
        d, ms = deployment_of(row), decode_step(deployment_of(row)).ms
        kind = "experts" if d.checkpoint.sparse else d.gpu.sm
        beside.setdefault(kind, []).append(ms.lo <= row["measured_ms"] <= ms.hi)
    assert len(beside["experts"]) == 23
    for kind, inside in beside.items():
        assert sum(inside) >= 0.75 * len(inside), kind


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
    assert "another card" in fit.why or "impossible" in fit.why


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
    assert sum(fits(deployment_of(row), row["measured_ms"]).fits for row in rows) >= 0.85 * len(
        rows
    )


def test_every_card_of_a_kind_of_memory_that_was_measured_reaches_the_same_share() -> None:
    shares = {
        GPUS[name].memory: GPUS[name].decode_fraction for name in ("A100 80GB SXM", "H100 SXM")
    }
    for gpu in GPUS.values():
        if gpu.memory in shares and "Instinct" not in gpu.name:
            assert gpu.decode_fraction == shares[gpu.memory], gpu.name


def test_a_checkpoint_of_mixed_precision_explains_the_steps_that_one_format_alone_does_not() -> (
    None
):
    rows = [row for row in calibration()["checked"] if "NVFP4 (layers as" in row["case"]]
    assert len(rows) == 2
    of_its_size = Checkpoint.of(QWEN27, quantization="nvfp4", weights_gb=22.07).kept_b
    for row in rows:
        d = deployment_of(row)
        wide = decode_step(replace(d, checkpoint=replace(d.checkpoint, kept_b=of_its_size))).ms.mid
        assert f"{wide:.1f} ms" in row["missed"]
        assert wide == pytest.approx(row["measured_ms"], rel=0.03)
