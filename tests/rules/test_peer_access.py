"""Peer access: refused, redirected, translated, across sockets."""

from __future__ import annotations

import pytest

from tools.engine import DecodeLine, Environment, Launch, Notice, ServerLog
from tools.errors import Undecided
from tools.linux.kernel import KernelLog, XidLine
from tools.linux.machine import Machine
from tools.linux.pci import PciDevice, PciLinks
from tools.nvidia.gpus import Gpus, GpuSample
from tools.nvidia.nccl import AllReduceTest, NcclLog
from tools.nvidia.topology import Pair, PairRate, Topology
from tools.rule import Cleared, Finding
from tools.rules.address_translation import iommu_between_gpus, peer_writes_redirected
from tools.rules.peer_access import (
    aperture_too_small,
    group_crosses_sockets,
    peer_access_refused,
    peer_copies_arrive_wrong,
)

TP2 = Launch(flags={"tp_size": 2})
PRO = Gpus(samples=tuple(GpuSample(index=n, name="NVIDIA RTX A6000") for n in (0, 1)))
GEFORCE = Gpus(samples=tuple(GpuSample(index=n, name="NVIDIA GeForce RTX 3090") for n in (0, 1)))
SHM = NcclLog(paths={"SHM/direct": 4})
P2P = NcclLog(paths={"P2P/CUMEM": 4})


def matrix(word="PHB", p2p=""):
    cell = {"a": "GPU0", "b": "GPU1"}
    return Topology(
        gpus=("GPU0", "GPU1"),
        links=(Pair(word=word, **cell),),
        p2p=(Pair(word=p2p, **cell),) if p2p else (),
    )


def test_a_refused_pair_of_professional_cards_is_a_finding(judged):
    found = judged(peer_access_refused, matrix(p2p="CNS"), PRO, SHM, TP2)
    assert found.confidence == 0.9
    assert found.quotes == ("GPU0-GPU1 CNS",)


def test_a_refused_pair_of_geforce_cards_is_by_design(judged):
    found = judged(peer_access_refused, matrix(p2p="CNS"), GEFORCE, TP2)
    assert "as the stock driver does for all GeForce cards" in found.statement
    assert "GeForce" not in judged(peer_access_refused, matrix(p2p="CNS"), PRO, TP2).statement


@pytest.mark.parametrize("topology", [matrix(p2p="OK"), matrix("NV4", p2p="CNS")])
def test_granted_access_clears_the_driver(judged, topology):
    assert isinstance(judged(peer_access_refused, topology, PRO), Cleared)


def test_nccl_over_p2p_clears_the_driver_without_a_matrix(judged):
    assert isinstance(judged(peer_access_refused, matrix(), PRO, P2P), Cleared)


def test_one_gpu_alone_needs_no_peers(judged):
    one = Launch(flags={"tp_size": 1})
    assert isinstance(judged(peer_access_refused, matrix(p2p="CNS"), PRO, one), Cleared)


def test_a_variable_that_disables_p2p_is_not_the_driver(judged):
    environment = Environment(values={"NCCL_P2P_DISABLE": "1"})
    with pytest.raises(Undecided, match="NCCL_P2P_DISABLE"):
        judged(peer_access_refused, matrix(p2p="CNS"), PRO, environment)


@pytest.mark.parametrize(
    ("bar1", "name", "clear"),
    [
        (256, "NVIDIA RTX A5000", True),
        (257, "NVIDIA GeForce RTX 3090", True),
        (256, "NVIDIA GeForce RTX 3090", False),
    ],
)
def test_a_small_aperture_matters_for_geforce_alone(judged, bar1, name, clear):
    gpus = Gpus(samples=tuple(GpuSample(index=n, name=name, bar1_mib=bar1) for n in (0, 1)))
    if clear:
        assert isinstance(judged(aperture_too_small, gpus), Cleared)
    else:
        with pytest.raises(Undecided):
            judged(aperture_too_small, gpus)


UP = Gpus(samples=(GpuSample(index=0, util_pct=98, pstate=2, link_gen=3, link_gen_max=3),))


def rates(*values):
    return AllReduceTest(busbw_gb_s={(4 << 20) * 2**n: rate for n, rate in enumerate(values)})


def test_a_plateau_across_sockets_is_the_ceiling(judged):
    found = judged(group_crosses_sockets, matrix("SYS"), UP, rates(8.8, 9.0, 9.2))
    assert found.category == "at_ceiling"


@pytest.mark.parametrize("test", [rates(4.0, 9.0, 9.2), rates(9.0, 9.2)])
def test_a_rising_or_short_curve_is_no_plateau(judged, test):
    with pytest.raises(Undecided):
        judged(group_crosses_sockets, matrix("SYS"), UP, test)


def test_host_memory_between_sockets_is_a_finding(judged):
    assert isinstance(judged(group_crosses_sockets, matrix("SYS"), SHM), Finding)


@pytest.mark.parametrize("word", ["PHB", "PIX", "NODE", "NV4"])
def test_one_socket_clears_it(judged, word):
    assert isinstance(judged(group_crosses_sockets, matrix(word), SHM), Cleared)


def redirecting(*, redirects=True):
    return PciLinks(
        devices=(
            PciDevice(bdf="0000:01:00.0", gpu=True, parent="0000:00:03.1"),
            PciDevice(bdf="0000:00:03.1", acs_redirects=redirects),
            PciDevice(bdf="0000:21:00.0", gpu=True, parent="0000:20:01.1"),
            PciDevice(bdf="0000:20:01.1", acs_redirects=redirects),
        )
    )


def spinning(power_w):
    one = GpuSample(util_pct=100, pstate=2, power_w=power_w, power_limit_w=285)
    return Gpus(samples=(one.model_copy(update={"index": 0}), one.model_copy(update={"index": 1})))


def test_redirects_and_a_hung_collective_are_a_finding(judged):
    found = judged(peer_writes_redirected, redirecting(), spinning(78))
    assert "0000:00:03.1, 0000:20:01.1" in found.statement


def test_gpus_that_draw_power_compute_and_do_not_hang(judged):
    with pytest.raises(Undecided):
        judged(peer_writes_redirected, redirecting(), spinning(115))


def test_a_server_that_decodes_does_not_hang(judged):
    log = ServerLog(started=True, decode=(DecodeLine(tok_s=50.0),))
    with pytest.raises(Undecided):
        judged(peer_writes_redirected, redirecting(), spinning(78), log)


def measured(gb_s, **more):
    rate = PairRate(a="GPU0", b="GPU1", gb_s=gb_s, **({"peer": True} | more))
    return Topology(gpus=("GPU0", "GPU1"), rates=(rate,))


def at_gen3(links):
    told = {"link_gen": 3, "link_width": 16}  # 15.8 GB/s
    return PciLinks(
        devices=tuple(one.model_copy(update=told) if one.gpu else one for one in links.devices)
    )


def test_redirects_and_slow_peer_copies_are_a_finding(judged):
    found = judged(peer_writes_redirected, at_gen3(redirecting()), measured(4.6))
    assert "4.6 GB/s of a link of 15.8 GB/s" in found.statement
    both_ways = measured(9.2, both_ways=True)
    assert isinstance(judged(peer_writes_redirected, at_gen3(redirecting()), both_ways), Finding)


def test_redirects_that_leave_peer_copies_fast_are_cleared(judged):
    said = judged(peer_writes_redirected, at_gen3(redirecting()), measured(13.0))
    assert isinstance(said, Cleared)
    assert "13.0 of 15.8 GB/s" in said.why


@pytest.mark.parametrize("rates", [measured(9.0), measured(4.6, peer=False)])
def test_copies_in_between_or_without_peer_access_decide_nothing(judged, rates):
    with pytest.raises(Undecided):
        judged(peer_writes_redirected, at_gen3(redirecting()), rates)


def test_without_redirects_acs_is_cleared(judged):
    assert isinstance(
        judged(peer_writes_redirected, redirecting(redirects=False), spinning(78)), Cleared
    )


def test_nvlink_passes_no_port(judged):
    assert isinstance(
        judged(peer_writes_redirected, redirecting(), spinning(78), matrix("NV4")), Cleared
    )


CARD = "0000:09:00.0"


def test_page_faults_of_a_gpu_are_the_iommu(judged):
    kernel = KernelLog(io_page_faults=(CARD,), xids=(XidLine(bdf=CARD, code=154, text="Reboot"),))
    assert judged(iommu_between_gpus, kernel, Machine(kernel_cmdline="ro quiet")).confidence == 0.9


def test_page_faults_of_another_device_are_not(judged):
    kernel = KernelLog(io_page_faults=("0000:03:00.0",))
    links = PciLinks(devices=(PciDevice(bdf=CARD, gpu=True),))
    assert isinstance(judged(iommu_between_gpus, kernel, links), Cleared)


@pytest.mark.parametrize("word", ["iommu=pt", "amd_iommu=off", "iommu=off"])
def test_passthrough_clears_the_iommu(judged, word):
    kernel = KernelLog(io_page_faults=(CARD,), iommu_on=True)
    assert isinstance(
        judged(iommu_between_gpus, kernel, Machine(kernel_cmdline=f"ro {word}")), Cleared
    )


def test_translation_with_peer_writes_is_a_finding(judged):
    machine = Machine(kernel_cmdline="ro intel_iommu=on")
    assert isinstance(judged(iommu_between_gpus, KernelLog(iommu_on=True), machine, P2P), Finding)


def test_translation_alone_is_left_open(judged):
    with pytest.raises(Undecided):
        judged(iommu_between_gpus, KernelLog(iommu_on=True))


def test_translation_does_not_touch_a_gpu_that_serves_alone(judged):
    launch = Launch(flags={"tp_size": 1})
    assert isinstance(judged(iommu_between_gpus, KernelLog(iommu_on=True), launch), Cleared)
    two = Launch(flags={"tp_size": 2})
    with pytest.raises(Undecided):
        judged(iommu_between_gpus, KernelLog(iommu_on=True), two)


def test_a_server_that_waits_at_start_counts_as_a_hang(judged):
    log = ServerLog(
        started=False, notices=(Notice(kind="watchdog", text="No available shared memory block"),)
    )
    assert judged(iommu_between_gpus, KernelLog(iommu_on=True), log).confidence == 0.8


def grid(**words):
    pairs = tuple(
        Pair(a=f"GPU{key[1]}", b=f"GPU{key[2]}", word=word) for key, word in words.items()
    )
    return Topology(gpus=("GPU0", "GPU1", "GPU2", "GPU3"), p2p=pairs)


def test_pairs_across_two_groups_have_none_as_is_normal(judged):
    with pytest.raises(Undecided, match="between groups"):
        judged(
            peer_access_refused,
            grid(g01="OK", g23="OK", g02="NS", g03="NS", g12="NS", g13="NS"),
            PRO,
        )


def test_a_refused_pair_inside_a_group_is_a_finding(judged):
    found = judged(peer_access_refused, grid(g01="OK", g12="OK", g02="NS"), PRO)
    assert isinstance(found, Finding)


@pytest.mark.parametrize(("wrong", "kind"), [(1, Finding), (0, Cleared)])
def test_wrong_values_condemn_peer_access(judged, wrong, kind):
    assert isinstance(judged(peer_copies_arrive_wrong, AllReduceTest(wrong=wrong)), kind)


def test_wrong_values_without_peer_access_have_another_cause(judged):
    assert judged(peer_copies_arrive_wrong, AllReduceTest(wrong=1), SHM).confidence == 0.5
