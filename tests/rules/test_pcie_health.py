"""Errors on PCIe links, and links lost at rest."""

from __future__ import annotations

import pytest

from tools.errors import Undecided
from tools.linux.kernel import AerLine, KernelLog, XidLine
from tools.linux.machine import Machine
from tools.linux.pci import PciDevice, PciLinks
from tools.nvidia.gpus import Gpus, GpuSample
from tools.nvidia.topology import Pair, Topology
from tools.rule import Cleared, Finding
from tools.rules.pcie_health import (
    link_lost_at_rest,
    link_repeats_packets,
    port_counts_errors,
    port_reports_errors,
    switch_starves_concurrent_writes,
)

GPU = "0000:41:00.0"
SDES = AerLine(bdf="0000:40:01.1", severity="fatal", errors=("SDES",), text="[ 5] SDES (First)")
GONE = XidLine(bdf=GPU, code=79, text="GPU has fallen off the bus.")


def counted(*replays):
    return Gpus(samples=tuple(GpuSample(index=0, replays=count) for count in replays))


def test_replays_that_grow_are_a_finding(judged):
    assert "+3" in judged(link_repeats_packets, counted(5, 8)).statement


def test_replays_that_stand_still_are_old(judged):
    assert isinstance(judged(link_repeats_packets, counted(8, 8)), Cleared)


@pytest.mark.parametrize(("count", "suspicion"), [(999, 0.1), (1000, 0.3)])
def test_one_reading_since_boot_decides_nothing(judged, count, suspicion):
    with pytest.raises(Undecided) as why:
        judged(link_repeats_packets, counted(count))
    assert why.value.suspicion == suspicion


def test_no_replays_at_all_clear_the_link(judged):
    assert isinstance(judged(link_repeats_packets, counted(0)), Cleared)


def corrected(count, bdf=GPU):
    line = AerLine(bdf=bdf, severity="corrected", errors=("RxErr",), text="RxErr")
    return KernelLog(
        aer=tuple(line.model_copy(update={"at": str(n)}) for n in range(count)), lines=9
    )


PORT = "0000:40:01.1"
LINKS = PciLinks(devices=(PciDevice(bdf=GPU, gpu=True, parent=PORT), PciDevice(bdf=PORT)))


@pytest.mark.parametrize("bdf", [GPU, PORT])
def test_five_reports_on_a_gpus_path_are_a_finding(judged, bdf):
    assert isinstance(judged(port_reports_errors, corrected(5, bdf), LINKS), Finding)


def test_four_may_be_of_any_time(judged):
    with pytest.raises(Undecided):
        judged(port_reports_errors, corrected(4), LINKS)


def test_reports_and_many_replays_belong_together(judged):
    assert isinstance(judged(port_reports_errors, corrected(1), counted(1000)), Finding)


def test_without_the_tree_a_port_may_be_anybodys(judged):
    with pytest.raises(Undecided, match="not told"):
        judged(port_reports_errors, corrected(50, PORT), counted(0))


@pytest.mark.parametrize(("count", "suspicion"), [(999, 0.1), (1000, 0.3)])
def test_counters_of_ports_since_boot_decide_nothing(judged, count, suspicion):
    with pytest.raises(Undecided) as why:
        judged(port_counts_errors, PciLinks(devices=(PciDevice(bdf=PORT, aer_correctable=count),)))
    assert why.value.suspicion == suspicion


def test_counters_of_zero_clear_the_ports(judged):
    clean = PciLinks(devices=(PciDevice(bdf=PORT, aer_correctable=0),))
    assert isinstance(judged(port_counts_errors, clean), Cleared)


def test_errors_of_an_nvme_are_nobodys_here(judged):
    assert isinstance(judged(port_reports_errors, corrected(50, "0000:02:00.0"), LINKS), Cleared)


def test_a_surprise_down_before_the_loss_is_power_management(judged):
    kernel = KernelLog(xids=(GONE,), aer=(SDES,))
    machine = Machine(kernel_cmdline="ro quiet", runtime_d3="Enabled (fine-grained)")
    found = judged(link_lost_at_rest, kernel, machine)
    assert found.confidence == 0.85
    assert isinstance(judged(port_reports_errors, kernel.model_copy(update={"lines": 3})), Cleared)


def test_with_power_management_off_it_is_not(judged):
    machine = Machine(kernel_cmdline="ro pcie_aspm=off pcie_port_pm=off")
    assert isinstance(
        judged(link_lost_at_rest, KernelLog(xids=(GONE,), aer=(SDES,)), machine), Cleared
    )


def test_a_loss_without_a_port_report_is_left_open(judged):
    with pytest.raises(Undecided):
        judged(link_lost_at_rest, KernelLog(xids=(GONE,)))


def test_no_loss_excludes_it(judged):
    assert judged(link_lost_at_rest, KernelLog(aer=(SDES,))) is None


def groups(*words, gpus=8):
    names = tuple(f"GPU{n}" for n in range(gpus))
    return Topology(
        gpus=names, links=tuple(Pair(a="GPU0", b=f"GPU{n}", word=w) for n, w in enumerate(words, 1))
    )


def test_two_switches_are_left_open_with_their_test(judged):
    with pytest.raises(Undecided) as why:
        judged(
            switch_starves_concurrent_writes, groups("PIX", "PXB", "SYS"), KernelLog(),
            Machine(kernel_cmdline="iommu=off"),
        )  # fmt: skip
    assert "concurrent" in why.value.settle
    assert why.value.suspicion == 0.4


@pytest.mark.parametrize(
    "topology", [groups("PHB", "SYS"), groups("PIX", "SYS", gpus=2), groups("NV4", "PIX", "SYS")]
)
def test_without_switches_it_is_excluded(judged, topology):
    assert isinstance(judged(switch_starves_concurrent_writes, topology), Cleared)
