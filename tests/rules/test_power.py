"""Power, heat and clocks: what binds, and what only looks as if it did."""

from __future__ import annotations

import pytest

from tools.engine import DecodeLine, ServerLog
from tools.errors import Undecided
from tools.linux.kernel import KernelLog
from tools.linux.machine import Machine
from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Cleared, Finding
from tools.rules.clocks import (
    clocks_held_down,
    ecc_costs_bandwidth,
    memory_clock_low,
    memory_clock_of_p2,
)
from tools.rules.heat import driver_slows_for_heat, hardware_slows_for_heat
from tools.rules.power import cap_below_the_card, cap_without_effect
from tools.rules.supply import brake_line_asserted, supply_switches_off

MEMORY = {"mem_mhz": 9501.0, "mem_max_mhz": 9751.0}


def sample(*reasons, limit=200.0, **more):
    said = {
        "index": 0, "util_pct": 99, "pstate": 2, "reasons": frozenset(reasons), "power_w": limit - 1,
        "power_limit_w": limit, "power_default_w": 300.0, "sm_mhz": 1400.0, "sm_max_mhz": 2100.0,
    }  # fmt: skip
    return GpuSample(**(said | more))


def gpus(*samples):
    return Gpus(samples=samples)


def test_a_cap_far_below_the_default_binds(judged):
    found = judged(cap_below_the_card, gpus(*[sample("sw_power_cap")] * 5))
    assert found.effect.prefill_pct[1] == pytest.approx(-18.4, abs=0.1)
    assert found.effect.decode_pct[1] == 0
    assert found.slows == {"prefill", "ttft"}


def test_a_clock_below_two_thirds_is_felt_by_decode_too(judged):
    held = gpus(*[sample("sw_power_cap", sm_mhz=1245.0)] * 5)
    assert "decode" in judged(cap_below_the_card, held).slows


@pytest.mark.parametrize("limit", [300.0, 200.0])
def test_a_cap_far_from_the_limit_is_not_the_limits(judged, limit):
    capped = gpus(*[sample("sw_power_cap", limit=limit, power_w=0.6 * limit)] * 5)
    with pytest.raises(Undecided, match="far below the limit that is set"):
        judged(cap_below_the_card, capped)
    assert judged(cap_without_effect, capped) is None


def test_a_clock_held_below_half_is_no_cap_without_effect(judged):
    held = sample("sw_power_cap", limit=300.0, sm_mhz=607.0, **MEMORY)
    assert judged(cap_without_effect, gpus(*[held] * 5)) is None


def test_below_65_percent_decode_pays_too(judged):
    found = judged(cap_below_the_card, gpus(*[sample("sw_power_cap", limit=150.0)] * 5))
    assert found.effect.decode_pct[1] < -10


@pytest.mark.parametrize(("limit", "costs"), [(269.0, True), (270.0, False)])
def test_ninety_percent_of_the_default_costs_next_to_nothing(judged, limit, costs):
    found = judged(cap_below_the_card, gpus(*[sample("sw_power_cap", limit=limit)] * 5))
    assert isinstance(found, Finding) is costs


@pytest.mark.parametrize(("capped", "binds"), [(1, True), (0, False)])
def test_a_fifth_of_the_samples_is_enough(judged, capped, binds):
    found = judged(cap_below_the_card, gpus(*[sample("sw_power_cap")] * capped, *[sample()] * 4))
    assert isinstance(found, Finding) is binds


def test_heat_is_not_the_cap(judged):
    assert isinstance(
        judged(cap_below_the_card, gpus(sample("sw_power_cap", "sw_thermal_slowdown"))), Cleared
    )


def test_a_cap_beside_full_memory_clock_is_the_ceiling(judged):
    capped = gpus(*[sample("sw_power_cap", limit=270.0, **MEMORY)] * 5)
    found = judged(cap_without_effect, capped)
    assert found.benign
    assert found.category == "at_ceiling"


def test_a_cap_is_read_where_neither_use_nor_pstate_is_told(judged):
    capped = gpus(
        *[
            sample(
                "sw_power_cap",
                limit=315.0,
                power_default_w=350.0,
                util_pct=None,
                pstate=None,
                **MEMORY,
            )
        ]
        * 5
    )
    assert judged(cap_without_effect, capped).category == "at_ceiling"
    assert isinstance(judged(cap_below_the_card, capped), Cleared)


def test_a_cap_that_costs_is_not_normal(judged):
    assert judged(cap_without_effect, gpus(*[sample("sw_power_cap", **MEMORY)] * 5)) is None


def test_the_brake_line_is_neither_heat_nor_cap(judged):
    braked = gpus(
        sample(
            "hw_slowdown",
            "hw_power_brake_slowdown",
            power_w=72.0,
            temp_c=41.0,
            sm_mhz=382.0,
            limit=300.0,
        )
    )
    assert judged(brake_line_asserted, braked).confidence == 0.92
    assert isinstance(judged(hardware_slows_for_heat, braked), Cleared)
    assert isinstance(judged(driver_slows_for_heat, braked), Cleared)
    assert isinstance(judged(cap_below_the_card, braked), Cleared)


def test_a_brake_counter_since_boot_is_left_open(judged):
    with pytest.raises(Undecided, match="since the driver"):
        judged(brake_line_asserted, gpus(sample(reason_us={"hw_power_brake_slowdown": 5})))


def test_a_brake_counter_that_grows_is_a_finding(judged):
    looks = [sample(reason_us={"hw_power_brake_slowdown": n}) for n in (5, 6)]
    assert isinstance(judged(brake_line_asserted, gpus(*looks)), Finding)


def test_hardware_heat_is_told_by_its_bit(judged):
    found = judged(
        hardware_slows_for_heat, gpus(sample("hw_slowdown", "hw_thermal_slowdown", temp_c=88.0))
    )
    assert "88 C" in found.statement


@pytest.mark.parametrize(("temp", "hot"), [(92.0, True), (91.0, False)])
def test_the_hw_slowdown_bit_alone_is_heat_only_at_the_limit(judged, temp, hot):
    known = gpus(sample("hw_slowdown", temp_c=temp, slowdown_temp_c=95.0))
    if hot:
        assert isinstance(judged(hardware_slows_for_heat, known), Finding)
    else:
        with pytest.raises(Undecided, match="alone"):
            judged(hardware_slows_for_heat, known)


def heating(temp, sm, power, **more):
    return sample(reasons=None, temp_c=temp, sm_mhz=sm, power_w=power, limit=140.0, **more)


def test_clocks_that_fall_when_hot_with_power_to_spare_are_heat(judged):
    found = judged(driver_slows_for_heat, gpus(heating(71, 1410, 139), heating(92, 705, 118)))
    assert isinstance(found, Finding)


@pytest.mark.parametrize(("temp", "sm", "power"), [(82, 705, 118), (92, 1300, 118), (92, 705, 130)])
def test_cool_or_fast_or_at_the_limit_is_not(judged, temp, sm, power):
    with pytest.raises(Undecided):
        judged(driver_slows_for_heat, gpus(heating(84, 1410, 139), heating(temp, sm, power)))


@pytest.mark.parametrize(("flags", "found"), [(3, True), (2, False)])
def test_the_thermal_bit_must_stay(judged, flags, found):
    hot = [sample("sw_thermal_slowdown")] * flags + [sample()] * (10 - flags)
    assert isinstance(judged(driver_slows_for_heat, gpus(*hot)), Finding) is found


def limits(*watts):
    return Gpus(samples=tuple(GpuSample(index=n, power_limit_w=w) for n, w in enumerate(watts)))


CUT = KernelLog(ends_mid_line=2, boots=3)


@pytest.mark.parametrize(("supply", "trips"), [(560.0, True), (561.0, False)])
def test_limits_and_the_rest_against_the_supply(judged, supply, trips):
    found = judged(supply_switches_off, limits(290, 170), Machine(supply_w=supply), CUT)
    assert isinstance(found, Finding) is trips


def test_a_machine_check_is_not_the_supply(judged):
    kernel = CUT.model_copy(update={"mce": 1})
    assert isinstance(
        judged(supply_switches_off, limits(290, 170), Machine(supply_w=490), kernel), Cleared
    )


def test_no_cut_seen_is_left_open(judged):
    with pytest.raises(Undecided):
        judged(supply_switches_off, limits(290, 170), Machine(supply_w=490), KernelLog())


@pytest.mark.parametrize(("sm", "held"), [(1784.0, True), (1785.0, False)])
def test_a_clock_setting_below_85_percent_holds(judged, sm, held):
    found = judged(clocks_held_down, gpus(sample("applications_clocks_setting", sm_mhz=sm)))
    assert isinstance(found, Finding) is held


def test_a_flat_low_clock_without_any_reason_looks_locked(judged):
    assert judged(clocks_held_down, gpus(*[sample(sm_mhz=1200.0)] * 4)).confidence == 0.55


def test_a_moving_clock_does_not(judged):
    with pytest.raises(Undecided):
        judged(clocks_held_down, gpus(*[sample(sm_mhz=1200.0 + 30 * n) for n in range(4)]))


def test_a_capped_clock_is_not_locked(judged):
    assert isinstance(judged(clocks_held_down, gpus(sample("sw_power_cap"))), Cleared)


@pytest.mark.parametrize(("mhz", "low"), [(899.0, True), (900.0, False)])
def test_a_memory_clock_below_ninety_percent_is_low(judged, mhz, low):
    found = judged(memory_clock_low, gpus(*[sample(mem_mhz=mhz, mem_max_mhz=1000.0)] * 3))
    assert isinstance(found, Finding) is low


def test_a_gpu_held_in_p3_at_full_load_is_at_work(judged):
    held = {"pstate": 3, "mem_mhz": 5001.0, "mem_max_mhz": 10501.0}
    found = judged(memory_clock_low, gpus(*[sample(**held)] * 3))
    assert "48%" in found.statement
    assert found.quotes == (
        "memory 5001 of 10501 MHz in P3, 2 of 2 samples at work",
    ) or found.quotes == ("memory 5001 of 10501 MHz in P3, 3 of 3 samples at work",)


@pytest.mark.parametrize("more", [{"util_pct": 60}, {"power_w": 30.0}])
def test_a_low_p_state_at_part_load_or_low_power_is_rest(judged, more):
    rest = {"pstate": 8, "mem_mhz": 405.0, "mem_max_mhz": 10501.0} | more
    with pytest.raises(Undecided):
        judged(memory_clock_low, gpus(*[sample(**rest)] * 3))


@pytest.mark.parametrize(("mhz", "kind"), [(1680.0, Cleared), (1575.0, Cleared)])
def test_a_clock_that_nothing_holds_down_is_no_lock(judged, mhz, kind):
    said = judged(clocks_held_down, gpus(*[sample(sm_mhz=mhz)] * 6))
    assert isinstance(said, kind)
    assert "no reason holds it down" in said.why


def test_the_first_second_of_load_is_not_counted(judged):
    ramp = [sample(mem_mhz=405.0, mem_max_mhz=8001.0)] + [
        sample(mem_mhz=7601.0, mem_max_mhz=8001.0)
    ] * 3
    assert isinstance(judged(memory_clock_low, gpus(*ramp)), Cleared)


def test_p2_is_by_design(judged):
    assert judged(memory_clock_of_p2, gpus(sample(mem_mhz=7601.0, mem_max_mhz=8001.0))).benign
    assert judged(memory_clock_of_p2, gpus(sample(mem_mhz=8001.0, mem_max_mhz=8001.0))) is None


def test_the_product_tells_the_highest_memory_clock(judged):
    found = judged(memory_clock_low, gpus(sample(name="NVIDIA RTX A6000", mem_mhz=5001.0)))
    assert found.effect.decode_pct[1] < -30


@pytest.mark.parametrize(
    ("name", "on", "kind"),
    [
        ("NVIDIA L40S", True, Finding),
        ("NVIDIA L40S", False, Cleared),
        ("NVIDIA H100 80GB HBM3", True, Cleared),
    ],
)
def test_ecc_costs_on_gddr_alone(judged, name, on, kind):
    assert isinstance(judged(ecc_costs_bandwidth, gpus(sample(name=name, ecc_on=on))), kind)


@pytest.mark.parametrize(("mib", "kind"), [(46068.0, Finding), (49140.0, Cleared)])
def test_the_memory_total_tells_ecc(judged, mib, kind):
    assert isinstance(
        judged(ecc_costs_bandwidth, gpus(sample(name="NVIDIA RTX A6000", mem_total_mib=mib))), kind
    )


@pytest.mark.parametrize(
    ("limit", "memory_pct", "mild"), [(250, 88, True), (250, 60, False), (180, 88, False)]
)
def test_a_lower_limit_costs_nothing_while_the_memory_is_busy_all_the_time(
    judged, limit, memory_pct, mild
):
    held = gpus(*[sample("sw_power_cap", limit=float(limit), mem_util_pct=memory_pct)] * 5)
    assert isinstance(judged(cap_below_the_card, held), Cleared) is mild
    assert bool(judged(cap_without_effect, held)) is mild


def _decoded(*rates):
    return ServerLog(decode=tuple(DecodeLine(running=1, tok_s=rate) for rate in rates))


def test_a_clock_that_stands_still_does_not_make_a_rate_that_comes_and_goes(judged):
    held = gpus(*[sample(sm_mhz=1200.0)] * 4)
    with pytest.raises(Undecided, match="at 16, at 10 and at 16 tok/s again"):
        judged(clocks_held_down, held, _decoded(16, 16, 16, 10, 10, 10, 16, 16))
    fading = _decoded(16, 15, 14, 13, 12, 11, 10, 9)
    assert isinstance(judged(clocks_held_down, held, fading), Finding), "a growing context"
    asked = gpus(*[sample("applications_clocks_setting", sm_mhz=1200.0)] * 4)
    assert (
        judged(clocks_held_down, asked, _decoded(16, 16, 16, 10, 10, 10, 16, 16)).confidence == 0.8
    )
