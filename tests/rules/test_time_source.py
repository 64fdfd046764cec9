"""What the time is read from: slow clocks, and those that only look so."""

from __future__ import annotations

import pytest

from tools.errors import Undecided
from tools.linux.kernel import KernelLog
from tools.linux.kernel_log import read_kernel_log
from tools.linux.machine import Machine
from tools.linux.machine_text import read_machine_text
from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Cleared, Finding
from tools.rules.time_source import kernel_gave_up_the_tsc, time_is_read_slowly

BOOT = """[    0.000000] clocksource: tsc-early: mask: 0xffffffffffffffff max_cycles: 0x1e45649026e
[    0.612013] clocksource: Switched to clocksource hpet
[    1.990221] clocksource: Switched to clocksource tsc
"""
LATER = "[498321.808733] tsc: Marking TSC unstable due to clocksource watchdog\n[498321.813890] clocksource: Switched to clocksource hpet\n"


def gpus(util):
    return Gpus(samples=(GpuSample(index=0, pstate=2, util_pct=util),))


def test_a_kernel_that_gave_up_the_tsc_while_the_gpu_waits_is_the_cause(judged):
    found = judged(kernel_gave_up_the_tsc, read_kernel_log(BOOT + LATER), gpus(61.0))
    assert isinstance(found, Finding)
    assert "from hpet" in found.statement


def test_hpet_for_a_moment_at_the_start_is_none(judged):
    assert isinstance(judged(kernel_gave_up_the_tsc, read_kernel_log(BOOT), gpus(61.0)), Cleared)


def test_what_the_machine_says_now_goes_before_an_old_log(judged):
    now = Machine(clocksource="tsc")
    kernel = read_kernel_log(BOOT + LATER)
    assert isinstance(judged(kernel_gave_up_the_tsc, kernel, now, gpus(61.0)), Cleared)


@pytest.mark.parametrize("clock", ["kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"])
def test_clocks_of_guests_and_of_arm_are_fast(judged, clock):
    path = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    machine = Machine(**read_machine_text(f"$ cat {path}\n{clock}\n"))
    assert machine.clocksource == clock
    assert isinstance(judged(time_is_read_slowly, machine, gpus(61.0)), Cleared)


@pytest.mark.parametrize("known", [(), (gpus(98.0),)], ids=["no look", "a full GPU"])
def test_without_a_gpu_that_waits_it_is_left_open(judged, known):
    with pytest.raises(Undecided, match="what that costs"):
        judged(time_is_read_slowly, Machine(clocksource="acpi_pm"), *known)


def test_where_nothing_tells_it_nothing_is_said(judged):
    assert judged(kernel_gave_up_the_tsc, KernelLog()) is None
