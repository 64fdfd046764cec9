"""Neighbours, slices and guests; and a server that only waits busily."""

from __future__ import annotations

import pytest

from tools.engine import DecodeLine, Environment, Launch, Notice, ServerLog
from tools.errors import Undecided
from tools.linux.machine import Machine, Process, Processes
from tools.nvidia.gpus import GpuProcess, Gpus, GpuSample
from tools.rule import Cleared, Finding
from tools.rules.sharing import (
    cards_of_unequal_size,
    server_waits_busily,
    share_of_threads_limited,
    somebody_else_on_the_gpu,
)
from tools.rules.virtualization import (
    confidential_mode_waits,
    driver_unloads_when_idle,
    guest_pays_for_the_host,
    server_runs_on_a_slice,
    vgpu_without_licence,
)

TREE = Processes(
    rows=(
        Process(pid=10, ppid=1, name="vllm", command="vllm serve m"),
        Process(pid=11, ppid=10, name="python3"),
    )
)
IDLE = ServerLog(started=True, decode=(DecodeLine(running=0, tok_s=0.0),))
NOW = "2025-09-01 10:02:00"
WORK = ServerLog(
    started=True, decode=(DecodeLine(at=NOW, running=2, tok_s=80.0),), last_line_at=NOW
)


def held(*processes, power=112.0, util=100.0):
    one = GpuSample(index=0, util_pct=util, power_w=power, power_limit_w=450.0, mem_used_mib=20_000)
    return Gpus(samples=(one,), processes=tuple(processes))


def holds(pid, mib=20_000, name="python3", gpu=0):
    return GpuProcess(gpu=gpu, pid=pid, name=name, used_mib=mib)


def test_a_foreign_process_shares_the_gpu(judged):
    found = judged(somebody_else_on_the_gpu, held(holds(11), holds(99)), TREE)
    assert "pid 99" in found.statement


def test_work_without_requests_makes_it_surer(judged):
    both = held(holds(11), holds(99))
    assert judged(somebody_else_on_the_gpu, both, TREE, IDLE).confidence == 0.85
    assert judged(somebody_else_on_the_gpu, both, TREE, WORK).confidence == 0.65


@pytest.mark.parametrize(
    "other", [holds(99, mib=499), holds(99, name="/usr/lib/xorg/Xorg"), holds(99, gpu=1), holds(10)]
)
def test_small_desktop_distant_or_own_processes_do_not(judged, other):
    assert isinstance(judged(somebody_else_on_the_gpu, held(holds(11), other), TREE), Cleared)


def test_an_unknown_server_leaves_it_open(judged):
    with pytest.raises(Undecided):
        judged(somebody_else_on_the_gpu, held(holds(1), holds(2)))
    assert isinstance(judged(somebody_else_on_the_gpu, held(holds(1), holds(2, gpu=1))), Cleared)


def test_an_empty_table_beside_used_memory_is_left_open(judged):
    with pytest.raises(Undecided):
        judged(somebody_else_on_the_gpu, held())


def cards(*mib, used=4.0):
    return Gpus(
        samples=tuple(
            GpuSample(index=n, mem_total_mib=m, mem_used_mib=used) for n, m in enumerate(mib)
        )
    )


REFUSED = ServerLog(
    notices=(Notice(kind="start_failed", text="The memory capacity is unbalanced. Some GPUs"),)
)


@pytest.mark.parametrize(("small", "kind"), [(22_118, Finding), (22_119, Cleared)])
def test_unequal_cards_are_refused(judged, small, kind):
    assert isinstance(judged(cards_of_unequal_size, cards(small, 24_576), REFUSED), kind)


def test_used_memory_may_be_the_reason_as_well(judged):
    with pytest.raises(Undecided):
        judged(cards_of_unequal_size, cards(16_376, 24_576, used=9_000.0), REFUSED)


def test_a_server_that_started_has_no_trouble_with_it(judged):
    assert isinstance(
        judged(cards_of_unequal_size, cards(16_376, 24_576), ServerLog(started=True)), Cleared
    )


def test_full_use_at_little_power_without_requests_is_polling(judged):
    found = judged(server_waits_busily, held(holds(11)), IDLE, TREE)
    assert found.benign
    assert found.confidence == 0.92


@pytest.mark.parametrize(
    "known",
    [
        (held(holds(11)), WORK),
        (held(holds(11), power=225.0), IDLE),
        (held(holds(11), util=89.0), IDLE),
        (held(holds(11), holds(99)), IDLE, TREE),
    ],
)
def test_requests_power_or_neighbours_are_not_polling(judged, known):
    assert not isinstance(judged(server_waits_busily, *known), Finding)


def test_a_server_that_never_started_hangs_and_does_not_poll(judged):
    with pytest.raises(Undecided):
        judged(server_waits_busily, held(holds(11)), ServerLog(started=False), TREE)


def spun(cpu):
    return Processes(rows=(Process(pid=5, name="sglang::schedul", cpu_pct=cpu),), idle_pct=93.0)


def quiet(seconds):
    return ServerLog(
        started=True, decode=(DecodeLine(at="2025-09-01 10:02:00", running=1, tok_s=20.0),),
        last_line_at=f"2025-09-01 10:{2 + seconds // 60:02}:{seconds % 60:02}",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("cpu", "seconds", "polls"),
    [(100, 61, True), (100, 60, False), (80, 600, True), (79, 600, False), (121, 600, False)],
)
def test_schedulers_that_spin_while_nobody_asks_poll(judged, cpu, seconds, polls):
    assert isinstance(judged(server_waits_busily, quiet(seconds), spun(cpu)), Finding) is polls


@pytest.mark.parametrize(("text", "kind"), [("50", Finding), ("100", Cleared), ("", Cleared)])
def test_mps_may_limit_the_threads(judged, text, kind):
    environment = Environment(values={"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": text})
    assert isinstance(judged(share_of_threads_limited, environment), kind)


def vgpu(name="NVIDIA L40S-24Q", **more):
    return Gpus(samples=(GpuSample(index=0, name=name, **more),))


def test_a_missing_licence_is_told(judged):
    assert (
        judged(vgpu_without_licence, vgpu(licence="Unlicensed (Unrestricted)")).confidence == 0.95
    )
    assert isinstance(judged(vgpu_without_licence, vgpu(licence="Licensed")), Cleared)


@pytest.mark.parametrize(("up_s", "found"), [(1201.0, True), (1200.0, False)])
def test_a_vgpu_idle_after_twenty_minutes_looks_unlicensed(judged, up_s, found):
    known = vgpu(util_pct=0.0), Machine(up_s=up_s)
    if found:
        assert judged(vgpu_without_licence, *known).confidence == 0.6
    else:
        with pytest.raises(Undecided):
            judged(vgpu_without_licence, *known)


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA L40S",
        "NVIDIA GeForce RTX 3090",
        "NVIDIA A100-SXM4-80GB",
        "Tesla V100-SXM2-16GB",
        "NVIDIA H20-3e",
    ],
)
def test_whole_cards_are_no_vgpu(judged, name):
    assert judged(vgpu_without_licence, vgpu(name, util_pct=0.0), Machine(up_s=9999)) is None


@pytest.mark.parametrize(("util", "found"), [(79.0, True), (80.0, False)])
def test_confidential_mode_beside_an_idle_gpu_is_suspected(judged, util, found):
    known = Gpus(cc_on=True, samples=(GpuSample(util_pct=util),))
    if found:
        assert isinstance(judged(confidential_mode_waits, known), Finding)
    else:
        with pytest.raises(Undecided):
            judged(confidential_mode_waits, known)


def test_without_confidential_mode_it_is_cleared(judged):
    assert isinstance(judged(confidential_mode_waits, Gpus(cc_on=False)), Cleared)


@pytest.mark.parametrize(("mig", "kind"), [(True, Finding), (False, Cleared)])
def test_a_slice_is_a_share(judged, mig, kind):
    assert isinstance(judged(server_runs_on_a_slice, vgpu(mig=mig)), kind)


ON_FIRST = Gpus(samples=(GpuSample(index=0, mig=True), GpuSample(index=1, mig=False)))


@pytest.mark.parametrize(
    ("devices", "kind"), [("GPU-1", Cleared), ("1", Cleared), ("MIG-7", Finding), ("0", Finding)]
)
def test_what_the_server_is_given_tells_whether_a_slice_is_its_own(judged, devices, kind):
    environment = Environment(values={"CUDA_VISIBLE_DEVICES": devices})
    assert isinstance(judged(server_runs_on_a_slice, ON_FIRST, environment), kind)


def test_a_slice_of_one_gpu_of_two_may_be_another_servers(judged):
    with pytest.raises(Undecided, match="some GPUs"):
        judged(server_runs_on_a_slice, ON_FIRST)


def test_top_tells_the_steal_too(judged):
    found = judged(guest_pays_for_the_host, Machine(virt="kvm"), Processes(steal_pct=24.0))
    assert "24 %" in found.statement


@pytest.mark.parametrize(("steal", "found"), [(5.1, True), (5.0, False), (None, False)])
def test_a_guest_pays_when_the_host_steals(judged, steal, found):
    if found:
        assert isinstance(
            judged(guest_pays_for_the_host, Machine(virt="kvm", steal_pct=steal)), Finding
        )
    else:
        with pytest.raises(Undecided):
            judged(guest_pays_for_the_host, Machine(virt="kvm", steal_pct=steal))


@pytest.mark.parametrize("virt", ["none", "lxc", "docker"])
def test_containers_are_no_guests(judged, virt):
    assert isinstance(judged(guest_pays_for_the_host, Machine(virt=virt, steal_pct=9.0)), Cleared)


def test_persistence_is_never_a_cause_while_serving(judged):
    assert isinstance(
        judged(driver_unloads_when_idle, vgpu(persistence=False), Launch(pid=7)), Cleared
    )
    with pytest.raises(Undecided):
        judged(driver_unloads_when_idle, vgpu(persistence=False))
