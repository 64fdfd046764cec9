"""Memory of the host, its shared memory, and its disks."""

from __future__ import annotations

import pytest

from tools.engine import Launch, Notice, ServerLog
from tools.errors import Undecided
from tools.linux.kernel import KernelLog
from tools.linux.machine import Machine, Process, Processes, Storage
from tools.nvidia.nccl_log import read_nccl_log
from tools.rule import Cleared, Finding
from tools.rules.host_memory import (
    kernel_killed_the_server,
    log_lacks_shared_memory,
    memory_runs_short,
    nccl_lacks_shared_memory,
    shared_memory_is_small,
)
from tools.rules.nccl_paths import sockets_instead_of_rdma
from tools.rules.storage import one_layer_of_storage_full, weights_over_a_network


@pytest.mark.parametrize(
    ("machine", "kind"),
    [
        (Machine(swapping_pages=256), Finding),
        (Machine(swapping_pages=255), Cleared),
        (Machine(swapping_pages=0), Cleared),
        (Machine(mem_pressure_pct=5.1), Finding),
        (Machine(mem_pressure_pct=5.0), Cleared),
    ],
)
def test_swapping_and_pressure_are_measured(judged, machine, kind):
    assert isinstance(judged(memory_runs_short, machine), kind)


def test_swap_in_use_is_history(judged):
    with pytest.raises(Undecided):
        judged(memory_runs_short, Machine(swap_used_mib=9000.0))


def test_a_killed_process_is_a_finding(judged):
    assert "killed 2" in judged(memory_runs_short, Machine(), KernelLog(oom_kills=2)).statement


SAID = ServerLog(
    lines=9, started=False,
    notices=(Notice(kind="nccl_error", text="Error while creating shared memory segment /dev/shm/nccl-x"),),
)  # fmt: skip


@pytest.mark.parametrize(("mib", "confidence"), [(64.0, 0.95), (None, 0.85)])
def test_the_log_names_the_shared_memory(judged, mib, confidence):
    assert (
        judged(log_lacks_shared_memory, SAID, Machine(shm_total_mib=mib)).confidence == confidence
    )


def test_a_large_shared_memory_contradicts_it(judged):
    with pytest.raises(Undecided):
        judged(log_lacks_shared_memory, SAID, Machine(shm_total_mib=16384, shm_used_mib=10))


def test_a_quiet_log_clears_it(judged):
    assert isinstance(judged(log_lacks_shared_memory, ServerLog(lines=9)), Cleared)


@pytest.mark.parametrize(
    "known",
    [
        (Machine(shm_total_mib=65.0),),
        (Machine(shm_total_mib=64.0), Launch(flags={"tp_size": 1})),
        (Machine(shm_total_mib=64.0), ServerLog(started=True)),
    ],
)
def test_enough_or_unneeded_shared_memory_is_fine(judged, known):
    assert isinstance(judged(shared_memory_is_small, *known), Cleared)


def test_dockers_default_alone_is_left_open(judged):
    with pytest.raises(Undecided):
        judged(shared_memory_is_small, Machine(shm_total_mib=64.0))


def disks(md, below):
    return Storage(busy_pct={"md0": md, "nvme0n1": below}, await_ms={"md0": 645.0, "nvme0n1": 1.9})


THREAD = Processes(rows=(Process(pid=2167, name="md0_raid5", cpu_pct=95.8),))


def test_one_thread_of_md_holds_the_array(judged):
    found = judged(one_layer_of_storage_full, disks(100, 20), THREAD)
    assert "md0_raid5 at 96 %" in found.statement


@pytest.mark.parametrize(("md", "kind"), [(90.0, Finding), (89.9, Cleared)])
def test_an_array_is_full_from_ninety_percent(judged, md, kind):
    assert isinstance(judged(one_layer_of_storage_full, disks(md, 20)), kind)


def test_busy_disks_below_are_the_disks_limit(judged):
    found = judged(one_layer_of_storage_full, disks(100, 50), THREAD)
    assert "waits for the disk" in found.statement


def test_a_busy_nvme_that_answers_fast_is_left_open(judged):
    with pytest.raises(Undecided):
        judged(
            one_layer_of_storage_full, Storage(busy_pct={"nvme0n1": 99}, await_ms={"nvme0n1": 0.2})
        )


def test_a_server_that_the_kernel_killed_lacked_host_memory(judged):
    killed = KernelLog(oom_kills=1, oom_victims=("sglang::schedul",))
    assert isinstance(judged(kernel_killed_the_server, killed), Finding)
    other = KernelLog(oom_kills=1, oom_victims=("firefox",))
    with pytest.raises(Undecided):
        judged(kernel_killed_the_server, other)
    assert isinstance(judged(kernel_killed_the_server, KernelLog()), Cleared)


REFUSED = """a:286:286 [0] NCCL INFO Using network Socket
a:286:300 [0] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device
a:286:300 [0] include/shm.h:48 NCCL WARN Error while creating shared memory segment nccl-shm-send (size 9637888)
"""


def test_nccl_without_shared_memory_is_no_matter_of_the_network(judged):
    said = read_nccl_log(REFUSED)
    found = judged(nccl_lacks_shared_memory, said, Machine(shm_total_mib=64.0))
    assert found.confidence == 0.95
    assert isinstance(judged(sockets_instead_of_rdma, said), Cleared)
    assert (
        judged(
            nccl_lacks_shared_memory, read_nccl_log("a:1:1 [0] NCCL WARN Call to connect failed")
        )
        is None
    )


def loaded(seconds, gb=56.1):
    return ServerLog(
        resolved={"model_path": "/mnt/models/m", "tp_size": 16},
        load_s=seconds,
        weights_gb=gb,
        lines=9,
    )


NFS = Machine(mounts={"/mnt/models": "nfs4"})


def test_a_load_over_a_network_is_judged_by_its_rate(judged):
    slow = judged(weights_over_a_network, NFS, loaded(2592.0))
    assert "0.37 GB/s" in slow.statement
    assert isinstance(judged(weights_over_a_network, NFS, loaded(200.0)), Cleared), "4.8 GB/s"
    local = Machine(mounts={"/mnt/models": "ext4"})
    assert isinstance(judged(weights_over_a_network, local, loaded(2592.0)), Cleared)
    with pytest.raises(Undecided):
        judged(weights_over_a_network, NFS, loaded(None))
