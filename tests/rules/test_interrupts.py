"""Interrupts on one core, on none, and on all."""

from __future__ import annotations

from tools.linux.machine import Machine
from tools.linux.processes import read_processes_text
from tools.linux.sysstat import read_mpstat
from tools.rule import Cleared, Finding
from tools.rules.interrupts import one_core_is_all_interrupts, one_core_takes_all_packets

HEAD = "    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n"
ROW = "{pid:7d} root      20   0       0      0      0 R {pct:5.1f}   0.0   9112:40 {name}\n"


def top(*rows):
    return read_processes_text(
        HEAD
        + "".join(ROW.format(pid=14 + n, pct=pct, name=name) for n, (name, pct) in enumerate(rows))
    )


def test_one_core_full_with_interrupts_is_named(judged):
    found = judged(one_core_takes_all_packets, top(("ksoftirqd/0", 97.3), ("ksoftirqd/5", 1.3)))
    assert isinstance(found, Finding)
    assert "ksoftirqd/0 at 97 %" in found.statement


def test_a_few_percent_are_normal(judged):
    assert isinstance(judged(one_core_takes_all_packets, top(("ksoftirqd/3", 6.2))), Cleared)


def test_interrupts_on_many_full_cores_are_spread(judged):
    many = top(*((f"ksoftirqd/{n}", 91.0) for n in range(4)))
    assert isinstance(judged(one_core_takes_all_packets, many), Cleared)


def test_other_threads_of_the_kernel_are_not_meant(judged):
    assert judged(one_core_takes_all_packets, top(("kswapd0", 99.0))) is None


def mpstat(*soft):
    head = "15:10:41     CPU    %usr   %sys   %soft  %steal   %idle\n"
    rows = (
        "all 18.0 3.1 12.4 0.0 66.4",
        *(f"{n} 9.0 3.0 {s} 0.0 {88 - s:.1f}" for n, s in enumerate(soft)),
    )
    return Machine(**read_mpstat(head + "".join(f"15:10:46 {row}\n" for row in rows)))


def test_mpstat_shows_the_full_core_too(judged):
    found = judged(one_core_is_all_interrupts, mpstat(88.0, 0.1, 0.2, 0.1))
    assert isinstance(found, Finding)
    assert "Core 0 is full with interrupts (88 % soft)" in found.statement


def test_soft_interrupts_of_a_few_percent_or_on_all_cores_are_no_fault(judged):
    assert isinstance(judged(one_core_is_all_interrupts, mpstat(6.0, 4.0, 5.0, 3.0)), Cleared)
    assert isinstance(judged(one_core_is_all_interrupts, mpstat(81.0, 82.0, 85.0, 84.0)), Cleared)


def test_of_two_cores_one_that_takes_all_is_no_wonder(judged):
    assert judged(one_core_is_all_interrupts, mpstat(88.0, 0.1)) is None
