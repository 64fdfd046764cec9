"""NVLinks that are down, and those that never come up by design."""

from __future__ import annotations

import pytest

from tools.engine import Notice, ServerLog
from tools.errors import Undecided
from tools.linux.kernel import KernelLog, XidLine
from tools.nvidia.gpus import Gpus, GpuSample
from tools.nvidia.topology import Nvlink, Nvlinks, Pair, Topology
from tools.rule import Cleared, Finding
from tools.rules.fabric import fabric_not_completed, fabric_not_initialized
from tools.rules.nvlink import (
    bridge_makes_no_contact,
    fabric_reports_errors,
    links_count_errors,
    links_not_brought_out,
    links_of,
)


def links(name, *downs, total):
    return Nvlinks(
        gpu_names={str(gpu): name for gpu in range(len(downs))},
        links=tuple(
            Nvlink(gpu=gpu, link=n, active=n not in down)
            for gpu, down in enumerate(downs)
            for n in range(total)
        ),
    )


def bonded(word):
    return Topology(gpus=("GPU0", "GPU1"), links=(Pair(a="GPU0", b="GPU1", word=word),))


NVL = links("NVIDIA H100 NVL", {4, 5, 10, 11, 16, 17}, {4, 5, 10, 11, 16, 17}, total=18)
HALF = links("GeForce RTX 2080 Ti", {1}, {1}, total=2)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("GeForce RTX 2080 Ti", 2),
        ("NVIDIA RTX A6000", 4),
        ("NVIDIA GeForce RTX 3090", 4),
        ("NVIDIA H100 NVL", 12),
        ("NVIDIA H100 80GB HBM3", 18),
        ("NVIDIA A100-SXM4-80GB", 12),
        ("NVIDIA B200", 18),
        ("Tesla V100-SXM2-16GB", 6),
        ("NVIDIA L40S", None),
    ],
)
def test_a_product_carries_its_links(name, count):
    assert links_of(name)[0] == count


def test_half_a_bridge_makes_no_contact(judged):
    found = judged(bridge_makes_no_contact, HALF, bonded("NV1"))
    assert "carries 2" in found.statement
    assert judged(links_not_brought_out, HALF, bonded("NV1")) is None


def test_six_of_eighteen_are_not_brought_out(judged):
    assert isinstance(judged(bridge_makes_no_contact, NVL, bonded("NV12")), Cleared)
    found = judged(links_not_brought_out, NVL, bonded("NV12"))
    assert found.benign
    assert found.confidence == 0.9


def test_one_more_link_down_is_missing(judged):
    down = {4, 5, 10, 11, 16, 17, 3}
    broken = links("NVIDIA H100 NVL", down, down, total=18)
    assert isinstance(judged(bridge_makes_no_contact, broken, bonded("NV11")), Finding)


def test_a_link_down_on_one_card_alone_is_missing(judged):
    assert isinstance(
        judged(bridge_makes_no_contact, links("Unheard", {1}, set(), total=4)), Finding
    )


def test_an_unknown_product_is_judged_by_the_matrix(judged):
    unknown = links("Unheard", {2, 3}, {2, 3}, total=4)
    assert judged(links_not_brought_out, unknown, bonded("NV2")).benign
    with pytest.raises(Undecided):
        judged(bridge_makes_no_contact, unknown, bonded("NV4"))


def test_without_a_bridge_all_links_are_down(judged):
    with pytest.raises(Undecided, match="without a bridge"):
        judged(
            bridge_makes_no_contact,
            links("NVIDIA RTX A6000", set(range(4)), set(range(4)), total=4),
        )


def test_all_links_up_clear_it(judged):
    assert isinstance(
        judged(bridge_makes_no_contact, links("NVIDIA RTX A6000", set(), set(), total=4)), Cleared
    )


def counted(*counts):
    return Nvlinks(
        links=tuple(Nvlink(gpu=0, link=0, crc_errors=c, reading=n) for n, c in enumerate(counts))
    )


def test_errors_that_grow_are_a_finding(judged):
    assert "5 -> 6" in judged(links_count_errors, counted(5, 6)).statement


@pytest.mark.parametrize("counts", [(0,), (5, 5)])
def test_errors_that_stand_still_are_not(judged, counts):
    assert isinstance(judged(links_count_errors, counted(*counts)), Cleared)


def test_one_reading_of_errors_is_left_open(judged):
    with pytest.raises(Undecided):
        judged(links_count_errors, counted(5))


def xids(*codes):
    return KernelLog(
        xids=tuple(XidLine(bdf="0000:66:00.0", code=code, text="Fatal") for code in codes)
    )


def test_nvlink_errors_that_come_first_are_the_cause(judged):
    assert "145" in judged(fabric_reports_errors, xids(145, 145, 45, 45)).statement


def test_nvlink_errors_after_a_lost_gpu_are_collateral(judged):
    with pytest.raises(Undecided, match="Xid 79"):
        judged(fabric_reports_errors, xids(79, 74))


def test_other_xids_are_not_nvlink(judged):
    assert isinstance(judged(fabric_reports_errors, xids(13, 143, 151)), Cleared)


def test_error_802_is_the_fabric_manager(judged):
    log = ServerLog(
        notices=(Notice(kind="start_failed", text="CUDA error 802: system not yet initialized"),)
    )
    assert isinstance(judged(fabric_not_initialized, log), Finding)
    assert isinstance(judged(fabric_not_initialized, ServerLog(started=True)), Cleared)


def test_a_gpu_that_has_not_joined_the_fabric_cannot_start_cuda(judged):
    waits = Gpus(samples=(GpuSample(index=0, fabric="In Progress"),))
    assert "In Progress" in judged(fabric_not_completed, waits).statement
    joined = Gpus(samples=(GpuSample(index=0, fabric="Completed"),))
    assert isinstance(judged(fabric_not_completed, joined), Cleared)
    assert judged(fabric_not_completed, Gpus(samples=(GpuSample(index=0),))) is None


def test_a_gpu_at_work_speaks_against_a_fabric_that_is_down(judged):
    busy = Gpus(samples=(GpuSample(index=0, fabric="In Progress", util_pct=98.0, pstate=0),))
    with pytest.raises(Undecided, match="at work"):
        judged(fabric_not_completed, busy)


def test_a_pair_without_any_nvlink_misses_none():
    found = bridge_makes_no_contact.judge(Nvlinks(), bonded("PHB"))
    assert isinstance(found, Cleared)
    with pytest.raises(Undecided):
        bridge_makes_no_contact.judge(Nvlinks(), bonded("NV4"))
