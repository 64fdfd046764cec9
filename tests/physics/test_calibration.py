"""The step model predicts what others measured, as well as it claims to."""

from __future__ import annotations

from dataclasses import replace
from statistics import mean, median
from typing import Any

import pytest

from tools.knowledge.calibration import calibration
from tools.knowledge.gpus import all_gpus
from tools.knowledge.links import link_data
from tools.physics import Checkpoint, Deployment, Link, decode_step, prefill_rate

GPUS = {gpu.name: gpu for gpu in all_gpus()}
ALONE = Link(1e9)


def link_of(told: dict[str, Any] | None) -> Link:
    if told is None:
        return ALONE
    if told["kind"] == "pcie":
        custom = told["custom_all_reduce"]
        return Link.pcie(told["gen"], told["width"], p2p=told["p2p"], custom=custom)
    return Link.nv_kind(told["kind"], custom=told["custom_all_reduce"])


def deployment_of(row: dict[str, Any]) -> Deployment:
    checkpoint = Checkpoint(**calibration()["models"][row["model"]])
    run = dict(row.get("run", {}))
    where = row.get("hardware", row)
    if "accept" in run:
        run["accept_len"] = run.pop("accept")
    return Deployment(
        checkpoint=replace(checkpoint, weight_bytes=row["weight_bytes"]),
        gpu=GPUS[where["gpu"]],
        tp=where["tp"],
        link=link_of(where.get("link")),
        **run,
    )


ROWS = calibration()["decode"] + calibration()["out_of_sample"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["case"])
def test_a_published_decode_step_is_predicted_within_the_error_that_is_stated(
    row: dict[str, Any],
) -> None:
    predicted = decode_step(deployment_of(row)).ms.mid
    assert predicted == pytest.approx(row["predicted_ms"], abs=0.006)
    assert (predicted / row["measured_ms"] - 1) * 100 == pytest.approx(row["error_pct"], abs=0.06)


@pytest.mark.parametrize(
    ("group", "rows", "middle", "average", "worst"),
    [
        ("one GPU", 12, 5.1, 5.6, 18.2),
        ("NVLink", 10, 6.0, 8.0, 19.3),
        ("PCIe or bridge", 7, 1.7, 3.6, 10.5),
    ],
)
def test_each_kind_of_deployment_has_the_error_that_is_stated(
    group: str, rows: int, middle: float, average: float, worst: float
) -> None:
    errors = [
        abs(decode_step(deployment_of(row)).ms.mid / row["measured_ms"] - 1) * 100
        for row in calibration()["decode"]
        if row["group"] == group
    ]
    assert len(errors) == rows
    assert (median(errors), mean(errors), max(errors)) == pytest.approx(
        (middle, average, worst), abs=0.06
    )


def test_two_sigma_hold_nearly_every_row_that_is_long_enough() -> None:
    outside = 0
    for row in ROWS:
        ms = decode_step(deployment_of(row)).ms
        outside += not (
            ms.mid - 2 * (ms.mid - ms.lo) <= row["measured_ms"] <= ms.mid + 2 * (ms.hi - ms.mid)
        )
    assert outside <= len(ROWS) * 0.15


@pytest.mark.parametrize("row", calibration()["prefill"], ids=lambda row: row["case"])
def test_a_published_prefill_is_predicted_within_its_interval(row: dict[str, Any]) -> None:
    rate = prefill_rate(deployment_of(row)).tok_s
    assert round(rate.mid) == row["predicted_tok_s"]
    assert rate.lo < row["measured_tok_s"] < rate.hi


@pytest.mark.parametrize("pair", link_data()["pairs"], ids=lambda pair: pair["case"])
def test_what_a_better_link_gains_is_predicted_within_the_stated_error(
    pair: dict[str, Any],
) -> None:
    base = replace(deployment_of(pair), draft_forwards=pair["draft_forwards"])
    slow, fast = (decode_step(base.over(link_of(pair[end]))).ms.mid for end in ("slow", "fast"))
    assert slow - fast == pytest.approx(pair["predicted_gain_ms"], abs=0.006)
    assert 0.745 <= (slow - fast) / pair["measured_gain_ms"] <= 1.18 + 0.005
