"""Values as NVIDIA's programs print them."""

from __future__ import annotations

import pytest

from tools.nvidia.values import (
    bdf,
    bits,
    count,
    mb_s,
    mib,
    moment,
    number,
    process_name,
    pstate,
    reason,
    reasons,
    switch,
)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("300.00 W", 300),
        ("45,20 W", 45.2),
        ("1 890 MHz", 1890),
        ("16x", 16),
        ("-2 C", -2),
        ("71.30", 71.3),
        ("N/A", None),
        ("[N/A]", None),
        ("[Not Supported]", None),
        ("[Unknown Error]", None),
        ("[Insufficient Permissions]", None),
        ("[GPU requires reset]", None),
        ("Requested functionality has been deprecated", None),
        ("ERR!", None),
        ("-", None),
        ("", None),
    ],
)
def test_a_number_is_told_or_not(said: str, value: float | None) -> None:
    assert number(said) == value


def test_sizes_are_in_mib_whatever_the_unit() -> None:
    assert [mib(said) for said in ("24564 MiB", "24564", "2 GiB", "512 KiB", "N/A")] == [
        24564,
        24564,
        2048,
        0.5,
        None,
    ]


def test_throughput_of_the_long_report_is_in_kilobytes() -> None:
    assert (mb_s("352 KB/s"), mb_s("12")) == (0.352, 12)


def test_counts_may_carry_a_unit() -> None:
    assert (count("192 bank(s)"), count("3401811907 us"), count("None")) == (192, 3401811907, None)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("00000000:E3:00.0", "0000:e3:00.0"),
        ("0000:e3:00.0", "0000:e3:00.0"),
        ("E3:00.0", "0000:e3:00.0"),
        ("0000000F:01:00.0", "000f:01:00.0"),
        ("00010000:01:00.0", "10000:01:00.0"),
        ("gibberish", None),
    ],
)
def test_a_pci_address_has_one_spelling(said: str, value: str | None) -> None:
    assert bdf(said) == value


def test_switches_have_three_states() -> None:
    assert [
        switch(said) for said in ("Enabled", "Yes", "Not Active", "Off", "0", "WDDM", "[N/A]")
    ] == [True, True, False, False, False, None, None]


def test_reasons_have_one_name_whatever_the_driver_calls_them() -> None:
    spelt = (
        "SW Power Cap",
        "clocks_throttle_reason_sw_power_cap",
        "clocks_event_reasons_counters_sw_power_cap",
        "SW Power Capping",
    )
    assert {reason(each) for each in spelt} == {"sw_power_cap"}
    assert (
        reason("HW Power Braking")
        == reason("clocks_event_reasons.hw_power_brake_slowdown")
        == "hw_power_brake_slowdown"
    )
    assert reason("Display Clock Setting") == "display_clocks_setting"
    assert reason("Something New") is None


def test_an_idle_gpu_has_no_reason() -> None:
    assert reasons(0x1) == frozenset()
    assert reasons(0x88 | 0x1) == {"hw_slowdown", "hw_power_brake_slowdown"}
    assert bits("0x0000000000000004") == 4
    assert bits("[N/A]") is None


def test_times_become_iso_text() -> None:
    assert moment("2026/08/29 14:02:12.101") == "2026-08-29T14:02:12.101"
    assert moment("Sat Jan 16 15:20:31 2021") == "2021-01-16T15:20:31"
    assert moment("Sun Feb  2 18:05:20 2025       ") == "2025-02-02T18:05:20"
    assert moment("Sam Jän 16 15:20:31 2021") is None


def test_a_performance_state_is_a_number() -> None:
    assert [pstate(said) for said in ("P0", "P8", "[N/A]", "Px")] == [0, 8, None, None]


def test_a_process_is_named_without_its_arguments() -> None:
    assert process_name("python3 -m sglang.launch_server --api-key geheim") == "python3"
    assert process_name("C:\\Program Files\\llm\\serve.exe") == "C:\\Program Files\\llm\\serve.exe"
    assert process_name("[Not Found]") is None
