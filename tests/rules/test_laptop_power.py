"""Laptops whose firmware keeps the GPU's power low."""

from __future__ import annotations

import pytest

from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Cleared, Finding
from tools.rules.laptop_power import clock_falls_when_work_comes, firmware_keeps_the_budget_low

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


def box(work_mhz, *, reasons=frozenset(), rest_mhz=2220.0):
    rest = [GpuSample(index=0, util_pct=0, sm_mhz=rest_mhz) for _ in range(3)]
    work = [GpuSample(index=0, util_pct=96, pstate=0, sm_mhz=work_mhz) for _ in range(5)]
    told = GpuSample(index=0, util_pct=96, pstate=0, sm_mhz=work_mhz, reasons=reasons, power_w=14.0)
    return Gpus(samples=(*rest, *work, told))


def test_a_clock_that_falls_when_work_comes_is_held_below_the_driver(judged):
    found = judged(clock_falls_when_work_comes, box(695.0))
    assert isinstance(found, Finding)
    assert "2220 MHz at rest and falls to 695 MHz at work (14 W)" in found.statement


def test_a_lock_holds_the_clock_at_rest_too(judged):
    assert judged(clock_falls_when_work_comes, box(695.0, rest_mhz=700.0)) is None


def test_a_cap_or_heat_that_is_told_is_not_the_firmware_s(judged):
    for reason in ("sw_power_cap", "hw_thermal_slowdown"):
        assert judged(clock_falls_when_work_comes, box(695.0, reasons=frozenset((reason,)))) is None


def test_boost_that_gives_way_under_load_is_no_fall(judged):
    assert judged(clock_falls_when_work_comes, box(1900.0)) is None


def test_reasons_that_nobody_asked_for_leave_the_fall_unexplained(judged):
    assert judged(clock_falls_when_work_comes, box(695.0, reasons=None)) is None


def test_the_only_card_may_be_told_by_index_in_one_look_and_by_address_in_another(judged):
    one = Gpus(samples=box(507.0, reasons=None).samples)
    told = GpuSample(bdf="000f:01:00.0", util_pct=96, sm_mhz=507.0, reasons=frozenset())
    found = judged(clock_falls_when_work_comes, one.merged(Gpus(samples=(told,))))
    assert "of the GPU is 2220 MHz at rest" in found.statement
    two = one.merged(Gpus(samples=(told,), attached=2))
    assert judged(clock_falls_when_work_comes, two) is None
