"""What a guest lacks or waits for by its host, and lines that look like it."""

from __future__ import annotations

import pytest

from tools.errors import Undecided
from tools.linux.kernel_log import read_kernel_log
from tools.linux.machine import Machine
from tools.rule import Finding
from tools.rules.guest_traps import regions_have_no_address, split_locks_put_threads_to_sleep

NO_SPACE = """[    7.583454] NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:
               NVRM: BAR0 is 0M @ 0x0 (PCI:0000:07:00.0)
[    7.650002] NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:
               NVRM: BAR1 is 0M @ 0x0 (PCI:0000:07:00.0)
[    7.657153] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.133.20  Release Build
"""
TRAP = "[90211.1] x86/split lock detection: #AC: {who}/4185 took a split_lock trap at address: 0x6{n}\n"


def traps(*who, more=0):
    lines = "".join(TRAP.format(who=name, n=n) for n, name in enumerate(who))
    return read_kernel_log(
        lines + (f"[90230.2] split_lock_warn: {more} callbacks suppressed\n" if more else "")
    )


def test_a_card_without_an_address_is_named_once(judged):
    found = judged(regions_have_no_address, read_kernel_log(NO_SPACE), Machine(virt="kvm"))
    assert isinstance(found, Finding)
    assert found.statement.startswith("The guest's firmware gave GPU 0000:07:00.0 no address")
    bare = judged(regions_have_no_address, read_kernel_log(NO_SPACE), Machine(virt="none"))
    assert bare.statement.startswith("Firmware gave")


def test_a_driver_that_loads_tells_of_no_such_card(judged):
    loaded = read_kernel_log(NO_SPACE.splitlines()[-1])
    assert judged(regions_have_no_address, loaded) is None


def test_traps_that_were_not_printed_count_too(judged):
    found = judged(split_locks_put_threads_to_sleep, traps("CPU 0/KVM", "CPU 1/KVM", more=2211))
    assert isinstance(found, Finding)
    assert found.statement.startswith("2213 split locks were trapped (CPU 0/KVM, CPU 1/KVM)")
    assert "the guests' processors freeze" in found.statement


def test_traps_of_the_server_itself_let_it_freeze(judged):
    found = judged(split_locks_put_threads_to_sleep, traps("python3", more=500))
    assert "the server freeze" in found.statement


@pytest.mark.parametrize(
    "kernel", [traps("CPU 0/KVM"), traps("osu!.exe", more=5000)], ids=["one", "another program"]
)
def test_a_few_traps_or_those_of_another_program_are_noise(judged, kernel):
    with pytest.raises(Undecided, match="noise"):
        judged(split_locks_put_threads_to_sleep, kernel)


def test_a_kernel_that_only_says_that_it_looks_for_them_is_quiet(judged):
    line = (
        "[    0.000000] x86/split lock detection: #AC: crashing the kernel on kernel split_locks\n"
    )
    assert judged(split_locks_put_threads_to_sleep, read_kernel_log(line)) is None
