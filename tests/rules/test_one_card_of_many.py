"""One slow card holds up its group: each card is judged by itself, and named."""

from __future__ import annotations

import pytest

from tools.errors import Undecided
from tools.nvidia.gpus import Gpus, GpuSample
from tools.nvidia.topology import Nvlink, Nvlinks
from tools.rule import Cleared, Finding
from tools.rules.clocks import clocks_held_down, memory_clock_low
from tools.rules.heat import driver_slows_for_heat, hardware_slows_for_heat
from tools.rules.nvlink import links_count_errors
from tools.rules.pcie_health import link_repeats_packets
from tools.rules.power import cap_below_the_card

FINE = {
    "util_pct": 98.0, "pstate": 0, "reasons": frozenset(), "sm_mhz": 1980.0, "sm_max_mhz": 1980.0,
    "mem_mhz": 2619.0, "mem_max_mhz": 2619.0, "power_w": 520.0, "power_limit_w": 700.0,
    "power_default_w": 700.0, "temp_c": 55.0,
}  # fmt: skip


def eight(which=None, looks=5, **more):
    """Eight cards that work, one of them otherwise."""
    return Gpus(
        samples=tuple(
            GpuSample(index=n, **(FINE | (more if n == which else {})))
            for _ in range(looks)
            for n in range(8)
        )
    )


HOT = {
    "reasons": frozenset(("sw_thermal_slowdown",)),
    "sm_mhz": 1185.0,
    "temp_c": 89.0,
    "power_w": 331.0,
}
CAPPED = {
    "reasons": frozenset(("sw_power_cap",)),
    "sm_mhz": 1065.0,
    "power_limit_w": 300.0,
    "power_w": 299.0,
}
LOCKED = {"reasons": frozenset(("applications_clocks_setting",)), "sm_mhz": 705.0}


@pytest.mark.parametrize(
    ("rule", "more", "words"),
    [
        (driver_slows_for_heat, HOT, "GPU 5 is hot"),
        (cap_below_the_card, CAPPED, "The power limit of GPU 5 is 300 W, 43%"),
        (memory_clock_low, {"mem_mhz": 1200.0}, "The memory clock of GPU 5 stands at 1200 MHz"),
        (clocks_held_down, LOCKED, "The SM clock of GPU 5 is held at 705 MHz"),
    ],
)
def test_one_card_of_eight_is_found_and_named(judged, rule, more, words):
    found = judged(rule, eight(5, **more))
    assert isinstance(found, Finding)
    assert words in found.statement
    assert isinstance(judged(rule, eight()), Cleared)


def test_one_thermal_bit_in_many_samples_is_told_and_no_slowdown(judged):
    flicker = GpuSample(index=0, **(FINE | {"reasons": frozenset(("sw_thermal_slowdown",))}))
    calm = tuple(GpuSample(index=0, **FINE) for _ in range(19))
    said = judged(driver_slows_for_heat, Gpus(samples=(flicker, *calm)))
    assert isinstance(said, Cleared)
    assert "1 of 20 samples" in said.why


def counts(*values):
    return Gpus(samples=tuple(GpuSample(index=0, replays=value) for value in values))


def test_counters_that_fall_decide_nothing(judged):
    with pytest.raises(Undecided, match="fell"):
        judged(link_repeats_packets, counts(214, 9))
    assert isinstance(judged(link_repeats_packets, counts(214, 214)), Cleared)


def test_looks_with_moments_are_put_in_order_of_time(judged):
    later = GpuSample(index=0, replays=214, at="2026-05-06T09:10:00")
    earlier = GpuSample(index=0, replays=9, at="2026-05-06T09:00:00")
    found = judged(link_repeats_packets, Gpus(samples=(later, earlier)))
    assert found.quotes == ("GPU 0: replays 9 -> 214",)


def nvlinks(*looks):
    return Nvlinks(
        links=tuple(
            Nvlink(gpu=0, link=link, replay_errors=count, reading=reading)
            for reading, look in enumerate(looks)
            for link, count in enumerate(look)
        )
    )


def test_nvlink_texts_in_reverse_are_told_by_a_counter_that_stands_still(judged):
    found = judged(links_count_errors, nvlinks((977, 3), (120, 3)))
    assert "120 -> 977" in found.statement
    with pytest.raises(Undecided, match="reloaded"):
        judged(links_count_errors, nvlinks((977, 3), (0, 0)))


def test_a_slowdown_for_part_of_the_time_costs_that_part(judged):
    hot = GpuSample(index=0, **(FINE | {"reasons": frozenset(("hw_thermal_slowdown",))}))
    calm = GpuSample(index=0, **FINE)
    always = judged(hardware_slows_for_heat, Gpus(samples=(hot,) * 8))
    seldom = judged(hardware_slows_for_heat, Gpus(samples=(hot, *(calm,) * 7)))
    assert always.effect.decode_pct[1] == -50
    assert seldom.effect.decode_pct[1] == pytest.approx(-6.25)
    assert "1 of 8 samples" in seldom.quotes[0]
