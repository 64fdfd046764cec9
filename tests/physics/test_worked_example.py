"""What each change costs Qwen3.6-27B on two RTX A6000 with three drafts: the worked example.

The rates of the table are another model's, of which every constant was chosen apart from ours.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tools.knowledge.calibration import calibration
from tools.knowledge.gpus import gpu_named
from tools.physics import (
    HOST_MS,
    Checkpoint,
    Deployment,
    Link,
    decode_step,
    link_effect,
    prefill_rate,
)
from tools.physics.fits import fits

A6000 = gpu_named("NVIDIA RTX A6000")
assert A6000
V1 = Deployment(
    checkpoint=Checkpoint(**calibration()["models"]["qwen3.6-27b"]),
    gpu=A6000,
    tp=2,
    link=Link.pcie(4),
    draft_forwards=3,
    accept_len=3.25,
    host_ms=HOST_MS["spec_v1"],
    context=2000,
)
V2 = replace(V1, host_ms=HOST_MS["spec_v2"])
SHM = {"p2p": False}
PRECISIONS = {"bf16": 2.0, "fp8": 1.0, "int4": 0.53}
OTHER_MODEL = 0.08  # how far two models of one thing may lie apart

TABLE: list[tuple[str, dict[str, Any], tuple[float, float, float]]] = [
    ("reference", {}, (59.4, 87.4, 115.8)),
    ("Gen1 x16", {"link": Link.pcie(1)}, (57.4, 83.1, 108.3)),
    ("Gen4 x8", {"link": Link.pcie(4, 8)}, (59.1, 86.8, 114.6)),
    ("Gen3 x16", {"link": Link.pcie(3)}, (59.1, 86.8, 114.6)),
    ("custom all-reduce off", {"link": Link.pcie(4, custom=False)}, (58.1, 84.7, 111.0)),
    ("P2P off", {"link": Link.pcie(4, **SHM)}, (55.9, 80.1, 103.2)),
    ("Gen1 and P2P off", {"link": Link.pcie(1, **SHM)}, (52.9, 73.9, 93.2)),
    ("NVLink bridge", {"link": Link.nv_kind("nvlink3_bridge")}, (59.8, 88.1, 117.0)),
    ("accept length 3.0", {"accept_len": 3.0}, (54.9, 80.7, 106.9)),
    ("accept length 3.5", {"accept_len": 3.5}, (64.0, 94.2, 124.7)),
    ("accept length 3.8", {"accept_len": 3.8}, (69.5, 102.2, 135.4)),
    (
        "no speculation",
        {"draft_forwards": 0, "accept_len": 1.0, "host_ms": 0.3},
        (23.4, 39.6, 62.0),
    ),
    ("spec v2", {"host_ms": 2.4}, (60.7, 90.1, 120.5)),
    ("slow CPU", {"host_ms": 3.5 * 2.5}, (54.2, 76.6, 97.5)),
    ("eager", {"graph": False}, (36.2, 36.2, 36.2)),
    ("memory at 8001 MHz", {"bandwidth": 8001 / 7601}, (62.1, 91.1, 120.2)),
    ("ECC off", {"bandwidth": 1.06}, (62.5, 91.6, 120.8)),
    ("memory at 5001 MHz", {"bandwidth": 5001 / 7601}, (41.0, 61.7, 83.6)),
    ("context 32k", {"context": 32000}, (57.9, 84.1, 109.9)),
    ("context 128k", {"context": 128000}, (53.3, 74.8, 94.7)),
    ("200 of 300 W", {"power": 200 / 300}, (59.4, 87.4, 115.8)),
    ("150 of 300 W", {"power": 0.5}, (49.4, 73.6, 98.7)),
    ("a neighbour takes 20 %", {"bandwidth": 0.8}, (48.8, 72.8, 97.7)),
]


@pytest.mark.parametrize(
    ("change", "rates"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_a_change_gives_about_the_rate_of_the_table(
    change: dict[str, Any], rates: tuple[float, ...]
) -> None:
    for weight_bytes, rate in zip(PRECISIONS.values(), rates, strict=True):
        checkpoint = replace(V1.checkpoint, weight_bytes=weight_bytes)
        d = replace(V1, checkpoint=checkpoint, **change)
        assert decode_step(d).tok_s.mid == pytest.approx(rate, rel=OTHER_MODEL)


def test_without_graphs_the_precision_does_not_matter() -> None:
    steps = [
        decode_step(
            replace(V1, checkpoint=replace(V1.checkpoint, weight_bytes=b), graph=False)
        ).ms.mid
        for b in PRECISIONS.values()
    ]
    assert steps == pytest.approx([steps[0]] * 3, rel=0.01)


def test_the_reference_step_with_spec_v2_has_the_parts_that_are_stated() -> None:
    step = decode_step(V2)
    parts = [ms.mid for _, ms in step.terms]
    assert parts == pytest.approx([47.4, 0.65, 1.5, 1.5, 2.4], abs=0.06)
    assert step.ms.mid == pytest.approx(53.5, abs=0.06)


@pytest.mark.parametrize(
    ("link", "tok_s", "share"),
    [
        (Link.pcie(4), 3004, 0.15),
        (Link.pcie(4, p2p=False), 1863, 0.48),
        (Link.pcie(3), 2604, 0.27),
        (Link.pcie(1), 1460, 0.59),
        (Link.pcie(1, p2p=False), 1154, 0.68),
        (Link.nv_kind("nvlink3_bridge"), 3175, 0.11),
    ],
)
def test_prefill_by_link_is_that_of_the_table(link: Link, tok_s: float, share: float) -> None:
    rate = prefill_rate(V1.over(link))
    assert rate.tok_s.mid == pytest.approx(tok_s, abs=1)
    assert rate.links_share == pytest.approx(share, abs=0.006)


def test_gen1_costs_decode_little_and_prefill_half() -> None:
    cost = link_effect(V2, Link.pcie(4), Link.pcie(1), step_ms=58.2)
    assert cost.decode_ms.mid == pytest.approx(1.95, abs=0.1)
    assert -7 < cost.decode_pct.lo < cost.decode_pct.mid < cost.decode_pct.hi < -1.5
    assert cost.decode_pct.mid == pytest.approx(-3.4, abs=0.15)
    assert cost.prefill_pct
    assert cost.prefill_pct.mid == pytest.approx(-51.4, abs=0.2)
    assert -58 < cost.prefill_pct.lo < -53 < -49 < cost.prefill_pct.hi < -44


def test_seventy_tokens_a_second_need_an_accept_length_of_three_and_three_quarters() -> None:
    assert 70 * decode_step(V2).ms.mid / 1e3 == pytest.approx(3.75, abs=0.01)


def test_the_ceiling_is_fifty_five_to_sixty_five() -> None:
    low, high = (decode_step(replace(V2, accept_len=a)).tok_s.mid for a in (3.0, 3.5))
    assert 55 <= low < high <= 65.5


@pytest.mark.parametrize("weight_bytes", [1.0, 0.53])
def test_a_step_of_sixty_milliseconds_is_not_of_packed_weights(weight_bytes: float) -> None:
    packed = replace(V2, checkpoint=replace(V2.checkpoint, weight_bytes=weight_bytes))
    assert not fits(packed, 60.7).fits
    assert decode_step(packed.over(Link.pcie(1, p2p=False))).ms.hi < 55
