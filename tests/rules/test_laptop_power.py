"""Laptops whose firmware keeps the GPU's power low."""

from __future__ import annotations

import pytest

from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Cleared, Finding
from tools.rules.laptop_power import firmware_keeps_the_budget_low

NAME = "NVIDIA RTX PRO 1000 Blackwell Generation Laptop GPU"


def gpu(name=NAME, sm=607.0, reasons=("sw_power_cap",), **more):
    return Gpus(
        samples=(
            GpuSample(
                index=0, name=name, util_pct=98, pstate=0, sm_mhz=sm, sm_max_mhz=3090.0, power_w=24.9,
                power_limit_w=25.0, power_default_w=25.0, reasons=frozenset(reasons), **more,
            ),
        )
    )  # fmt: skip


@pytest.mark.parametrize(("most", "sure"), [(50.0, 0.85), (None, 0.7)])
def test_a_budget_below_the_boards_is_the_firmwares(judged, most, sure):
    found = judged(firmware_keeps_the_budget_low, gpu(power_max_w=most))
    assert isinstance(found, Finding)
    assert found.confidence == sure
    assert ("could have 50 W" in found.statement) is (most is not None)


@pytest.mark.parametrize(
    "fine",
    [gpu(sm=2400.0), gpu(reasons=()), gpu(reasons=("sw_power_cap", "sw_thermal_slowdown"))],
    ids=["fast enough", "no cap", "hot"],
)
def test_heat_a_fast_clock_or_no_cap_is_not_it(judged, fine):
    assert isinstance(judged(firmware_keeps_the_budget_low, fine), Cleared)


def test_a_desktop_card_has_no_such_firmware(judged):
    assert judged(firmware_keeps_the_budget_low, gpu(name="NVIDIA GeForce RTX 5090")) is None
