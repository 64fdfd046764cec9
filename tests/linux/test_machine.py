"""Machines: the tightest limit, the traces of a guest, several texts of one machine."""

from typing import Any

import pytest

from tools.linux.machine_script import read_script
from tools.linux.machine_virt import Guest
from tools.linux.quantity import number, size_mib
from tools.probes.machine import ReadMachine


@pytest.mark.parametrize(
    ("text", "mib"),
    [
        ("64M", 64),
        ("1.8T", 1887436.8),
        ("18,2g", 18636.8),
        ("1048576", 1),
        ("62Gi", 63488),
        ("0", 0),
    ],
)
def test_sizes_are_read_in_any_unit_and_locale(text: str, mib: float) -> None:
    assert size_mib(text) == pytest.approx(mib)


def test_a_bare_number_counts_in_the_unit_of_its_table() -> None:
    assert size_mib("2048", "K") == 2
    assert size_mib("x") is None
    assert number("95,8") == number("95.8") == 95.8
    assert number("-") is None


@pytest.mark.parametrize(("traces", "kernel", "hypervisor", "virt", "of"), [
    ({"detected": "lxc"}, "6.8.12-4-pve", False, "lxc", "proxmox"),
    ({"detected": "lxc"}, "6.8.0-60-generic", False, "lxc", None),
    ({"lxcfs": True}, "6.8.12-4-pve", False, "lxc", "proxmox"),
    ({"container": "lxc", "detected": None}, "6.5.13-1-pve", True, "lxc", "proxmox"),
    ({"docker": True}, "6.8.12-4-pve", False, "docker", "proxmox"),
    ({"detected": "kvm", "bios": "Proxmox distribution of EDK II"}, "6.8.0", True, "kvm", "proxmox"),
    ({"vendor": "QEMU", "product": "Standard PC (Q35 + ICH9, 2009)"}, "6.8.0", True, "kvm", None),
    ({"vendor": "VMware, Inc.", "product": "VMware7,1"}, "6.8.0", True, "vmware", None),
    ({"detected": "none"}, "6.8.12-4-pve", False, "none", None),
    ({"vendor": "Supermicro", "product": "Super Server"}, "6.8.12-4-pve", False, "none", None),
    ({}, "6.8.0", True, "vm-other", None), ({}, "6.8.0", False, None, None),
])  # fmt: skip
def test_a_guest_is_told_by_its_traces(
    traces: dict[str, Any], kernel: str, hypervisor: bool, virt: str | None, of: str | None
) -> None:
    assert Guest.of_script(traces, kernel, {"hypervisor": hypervisor}) == Guest(virt, of)


def reading(at: float, *limits: dict[str, str]) -> dict[str, Any]:
    return {"at": at, "stat": "cpu  0 0 0 0 0 0 0 0", "vmstat": "", "limits": list(limits)}


def test_the_tightest_limit_of_all_groups_above_counts() -> None:
    own, above = (
        {"cpu.max": "max 100000"},
        {"cpu.max": "250000 100000", "cpu.stat": "nr_periods 10\nnr_throttled 4"},
    )
    later = above | {"cpu.stat": "nr_periods 20\nnr_throttled 9"}
    machine = read_script({"before": reading(1.0, own, above), "after": reading(2.0, own, later)})
    assert (machine.quota_cpus, machine.throttled_delta, machine.periods) == (2.5, 5, 20)


def test_no_limit_is_not_the_same_as_not_told() -> None:
    free = read_script({"before": reading(1.0), "after": reading(2.0, {"cpu.max": "max 100000"})})
    silent = read_script({"before": reading(1.0), "after": reading(2.0)})
    assert (free.quota_told, free.quota_cpus) == (True, None)
    assert (silent.quota_told, silent.quota_cpus) == (False, None)


def test_several_texts_of_one_machine_complete_each_other() -> None:
    probe = ReadMachine()
    machine = probe.parse("CPU(s): 172\nModel name: AMD EPYC 9554\n").merged(
        probe.parse("600000 100000\n")
    )
    machine = machine.merged(probe.parse("nr_periods 10\nnr_throttled 4\nthrottled_usec 99\n"))
    assert (machine.cpus, machine.quota_cpus, machine.throttled_periods) == (172, 6.0, 4)


@pytest.mark.parametrize(("line", "missing"), [
    ("ls: cannot access '/models/draft': No such file or directory", "/models/draft"),
    ("ls: cannot access /models/draft: No such file or directory", "/models/draft"),
    ("cat: /etc/x.json: No such file or directory", "/etc/x.json"),
    ("ls: Zugriff auf '/models/draft' nicht möglich: Datei oder Verzeichnis nicht gefunden", "/models/draft"),
])  # fmt: skip
def test_a_path_that_is_missing_is_named(line: str, missing: str) -> None:
    assert ReadMachine().parse(line).missing_paths == (missing,)


@pytest.mark.parametrize(("text", "up_s", "load"), [
    (" 07:28:57 up 24 min,  1 user,  load average: 1.02, 1.11, 0.90", 1440, 1.02),
    ("11:40:03 up 6 days,  2:11,  1 user,  load average: 3.41, 3.30, 3.12", 526260, 3.41),
    ("11:40:03 up 6 Tage,  2:11,  1 user,  load average: 3,41, 3,30, 3,12", 526260, 3.41),
    ("11:40:03 up  2:11,  0 users,  load average: 0.00, 0.30, 0.12", 7860, 0.0),
])  # fmt: skip
def test_uptime_is_read_in_each_form(text: str, up_s: float, load: float) -> None:
    machine = ReadMachine().parse(text)
    assert (machine.up_s, machine.load1) == (up_s, load)


@pytest.mark.parametrize("text", [
    "[2026-07-04 20:59:20] server_args=ServerArgs(a=1)\nuptime\n",
    "# gpu  rxpci  txpci\n    0   3699   3502\n",
    "GPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n",
    "hello\n", "none of it\n", "12 34\n", '{"model":"x"}\n',
])  # fmt: skip
def test_other_texts_tell_no_machine(text: str) -> None:
    assert not ReadMachine().recognises(text)


def test_clocks_counted_by_uniq_and_the_files_of_cpufreq_are_read() -> None:
    text = (
        "$ cat /sys/devices/system/cpu/cpufreq/policy0/scaling_driver\nacpi-cpufreq\n"
        "$ grep MHz /proc/cpuinfo | sort | uniq -c\n      3 cpu MHz\t\t: 800.000\n      1 cpu MHz\t\t: 2900.000\n"
    )
    machine = ReadMachine().parse(text)
    assert machine.scaling_driver == "acpi-cpufreq"
    assert machine.mhz_now == (800.0, 800.0, 800.0, 2900.0)
    khz = "$ cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq\n3798012\n800000\n"
    assert ReadMachine().parse(khz).mhz_now == (3798.012, 800.0)


def test_a_library_that_refuses_the_kernel_module_is_read() -> None:
    refused = ReadMachine().parse(
        "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 575.57\n"
    )
    assert (refused.nvidia_mismatch, refused.nvidia_library) == (True, "575.57")
    loaded = ReadMachine().parse(
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.133.20  Sun Mar 23 01:51:50 UTC 2025\n"
    )
    assert loaded.nvidia_module == "570.133.20"
    assert refused.merged(loaded).nvidia_mismatch


def test_a_container_below_a_proxmox_kernel_is_told_by_two_texts_of_it() -> None:
    virt = ReadMachine().parse("$ systemd-detect-virt\nlxc\n")
    kernel = ReadMachine().parse("$ uname -a\nLinux c 6.8.12-9-pve #1 SMP PREEMPT_DYNAMIC x86_64\n")
    assert virt.merged(kernel).guest_of == "proxmox"
    assert kernel.merged(virt).guest_of == "proxmox"
    assert kernel.guest_of is None
