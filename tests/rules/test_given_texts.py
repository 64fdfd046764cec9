"""What given texts of the host decide: limits of containers, cores, nodes, ports, modules, stacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.conftest import Judged
from tools.engine import Benchmark, DecodeLine, Launch, Notice, ServerLog
from tools.errors import Undecided
from tools.linux.machine import Machine, Process, Processes, RdmaPort
from tools.nvidia.nccl import NcclLog
from tools.probes.machine import ReadMachine
from tools.probes.processes import ReadProcesses
from tools.rule import Cleared, Finding, Rule
from tools.rules.container_memory import limit_killed_the_server
from tools.rules.core_shortage import count_cores, engine_waits_for_a_core, few_cores_are_allowed
from tools.rules.cpu_ceiling import host_memory_is_the_limit
from tools.rules.cpu_quota import quota_used_up
from tools.rules.host_cpu import cores_kept_slow
from tools.rules.host_memory import shared_memory_is_small
from tools.rules.nccl_paths import sockets_instead_of_rdma
from tools.rules.numa import a_node_without_memory
from tools.rules.silence import process_is_stopped
from tools.rules.standing import a_rank_waits_for_another
from tools.rules.storage import weights_over_a_network
from tools.rules.text_pipeline import detokenizer_full

GOLDEN = Path(__file__).parents[1] / "golden"
TWO_RANKS = Launch(engine="sglang", flags={"tp_size": 2, "model_path": "/models/x"})
HUNG = ServerLog(lines=9, notices=(Notice(kind="watchdog", text="Watchdog timeout"),))


def machine(name: str) -> Machine:
    return ReadMachine().parse((GOLDEN / "ReadMachine" / f"{name}.out").read_text("utf-8"))


def processes(name: str) -> Processes:
    return ReadProcesses().parse((GOLDEN / "ReadProcesses" / f"{name}.out").read_text("utf-8"))


@pytest.mark.parametrize("name", [
    "docker_inspect_of_a_stopped_container", "pod_without_memory_for_dev_shm", "systemctl_status_killed_for_memory",
])  # fmt: skip
def test_whatever_tells_of_the_kill_names_the_memory_limit(judged: Judged, name: str) -> None:
    found = judged(limit_killed_the_server, machine(name))
    assert isinstance(found, Finding)
    assert "memory limit" in found.statement
    assert found.slows == {"crash"}


def test_a_count_of_kills_says_not_whom(judged: Judged) -> None:
    with pytest.raises(Undecided, match=r"killed 2 process\(es\) of the group"):
        judged(limit_killed_the_server, machine("cgroup_2_grepped"))
    free = machine("cgroup_1_grepped")
    assert isinstance(judged(limit_killed_the_server, free), Cleared)


def test_a_limit_that_is_nearly_used_may_be_page_cache(judged: Judged) -> None:
    with pytest.raises(Undecided, match="page cache"):
        judged(limit_killed_the_server, Machine(mem_limit_mib=65536, mem_current_mib=65000))
    assert (
        judged(limit_killed_the_server, Machine(mem_limit_mib=65536, mem_current_mib=60000)) is None
    )


@pytest.mark.parametrize("name", [
    "docker_inspect_of_a_stopped_container", "pod_without_memory_for_dev_shm", "mount_shm_of_64_mib", "df_in_french",
    "df_with_types_in_chinese", "findmnt_shm_of_64_mib",
])  # fmt: skip
def test_a_small_dev_shm_is_seen_in_each_form(judged: Judged, name: str) -> None:
    with pytest.raises(Undecided, match="64 MiB"):
        judged(shared_memory_is_small, machine(name), TWO_RANKS)


def test_a_pod_with_memory_for_dev_shm_has_enough(judged: Judged) -> None:
    told = machine("described_pod_with_dev_shm")
    assert isinstance(judged(shared_memory_is_small, told, TWO_RANKS), Cleared)
    assert machine("docker_inspect_podman_host_ipc").shm_total_mib is None, "it is the host's own"


@pytest.mark.parametrize(
    ("cores", "suspicion"), [(1.5, 0.35), (3.9, 0.35), (4.0, 0.1), (12.5, 0.1)]
)
def test_a_quota_is_the_more_suspect_the_fewer_cores_a_rank_gets(
    judged: Judged, cores: float, suspicion: float
) -> None:
    with pytest.raises(Undecided) as doubt:
        judged(quota_used_up, Machine(quota_told=True, quota_cpus=cores), TWO_RANKS)
    assert doubt.value.suspicion == suspicion


def test_the_servers_own_container_wins_over_the_host(judged: Judged) -> None:
    host = (
        ReadMachine()
        .parse("shm 65536 0 65536 0% /dev/shm\n")
        .model_copy(update={"shm_total_mib": 64000.0, "quota_told": True, "cpus_allowed": "0-127"})
    )
    inside = machine("docker_inspect_of_a_stopped_container")
    for both in (host.merged(inside), inside.merged(host)):
        assert (both.shm_total_mib, both.quota_cpus, both.cpus_allowed) == (64.0, 8.0, "0-15")


def test_the_time_without_a_core_names_who_has_it(judged: Judged) -> None:
    seen = processes("pidstat_waiting_for_a_core")
    found = judged(engine_waits_for_a_core, seen)
    assert isinstance(found, Finding)
    assert "39 %" in found.statement
    assert "cc1plus takes 4 cores" in found.statement
    with pytest.raises(Undecided, match="quota of 4 cores"):
        judged(engine_waits_for_a_core, seen, Machine(quota_cpus=4.0))
    idle = Processes(rows=(Process(pid=1, name="sglang::schedul", wait_pct=9.9),))
    assert isinstance(judged(engine_waits_for_a_core, idle), Cleared)
    assert (
        judged(
            engine_waits_for_a_core, Processes(rows=(Process(pid=1, name="bash", wait_pct=90.0),))
        )
        is None
    )


@pytest.mark.parametrize(
    ("listed", "count"), [("0-15", 16), ("3", 1), ("0-1,8-9", 4), ("x", 0), ("", 0), ("5-2", 0)]
)
def test_lists_of_cores_are_counted(listed: str, count: int) -> None:
    assert count_cores(listed) == count


def test_fewer_cores_than_the_processes_use_are_suspect(judged: Judged) -> None:
    with pytest.raises(Undecided, match=r"only 2 core\(s\) are allowed") as doubt:
        judged(few_cores_are_allowed, machine("taskset_mask_in_german"), TWO_RANKS)
    assert doubt.value.suspicion > 0.3
    assert isinstance(
        judged(few_cores_are_allowed, Machine(cpus_allowed="0-5"), TWO_RANKS), Cleared
    )
    assert judged(few_cores_are_allowed, Machine(), TWO_RANKS) is None


def test_a_node_without_memory_and_far_pages_are_named(judged: Judged) -> None:
    with pytest.raises(Undecided, match=r"node 1 has cores .* and no memory"):
        judged(a_node_without_memory, machine("numactl_hardware_a_node_without_memory"))
    with pytest.raises(Undecided, match="36 % of all pages"):
        judged(a_node_without_memory, machine("numastat_half_of_the_pages_far"))
    assert isinstance(judged(a_node_without_memory, Machine(numa_far_pct=0.4)), Cleared)
    assert judged(a_node_without_memory, machine("numactl_hardware_one_node")) is None


SOCKETS = NcclLog(network="Socket", paths={"NET/Socket": 4})


def test_ports_that_are_down_explain_sockets(judged: Judged) -> None:
    found = judged(sockets_instead_of_rdma, SOCKETS, machine("ibstatus_all_down"))
    assert isinstance(found, Finding)
    assert "No RDMA port is up: mlx5_0/1 is Down, its link Polling." in found.statement
    assert "cable" in found.remedy[0]


def test_a_port_that_is_up_makes_sockets_a_choice(judged: Judged) -> None:
    found = judged(sockets_instead_of_rdma, SOCKETS, machine("ibstat_one_port_down"))
    assert isinstance(found, Finding)
    assert "mlx5_0/1 is up and unused" in found.statement
    assert not found.remedy, "the catalogue's own holds"


def test_without_a_driver_for_clocks_no_governor_is_to_blame(judged: Judged) -> None:
    assert isinstance(
        judged(cores_kept_slow, machine("cpupower_without_driver_in_german")), Cleared
    )


ON_CPUS = ServerLog(
    lines=99, started=True, resolved={"device": "cpu", "dtype": "bfloat16", "model_path": "/m/Llama-3-8B"},
    decode=tuple(DecodeLine(at=f"2026-11-30 09:00:{n:02}", running=1, tok_s=2.2) for n in range(20)),
)  # fmt: skip


def test_memory_modules_bound_decode_where_nobody_measured(judged: Judged) -> None:
    modules = machine("dmidecode_memory_half_populated")
    found = judged(host_memory_is_the_limit, ON_CPUS, modules)
    assert isinstance(found, Finding)
    assert "the fitted memory modules reach" in found.statement
    assert any("2 of 4 memory slots" in step for step in found.remedy)
    assert any("2933 of 3200 MT/s" in step for step in found.remedy)
    measured = judged(host_memory_is_the_limit, ON_CPUS, modules, Benchmark(stream_triad_gb_s=40.0))
    assert isinstance(measured, Finding)
    assert measured.confidence > found.confidence


@pytest.mark.parametrize(
    ("kind", "doubted"), [("nfs4", True), ("fuse.juicefs", True), ("ext4", False)]
)
def test_weights_on_a_network_make_a_start_slow(judged: Judged, kind: str, doubted: bool) -> None:
    told = Machine(mounts={"/": "ext4", "/models": kind})
    if doubted:
        with pytest.raises(Undecided, match="over the network"):
            judged(weights_over_a_network, told, TWO_RANKS)
    else:
        assert isinstance(judged(weights_over_a_network, told, TWO_RANKS), Cleared)


def test_a_rank_that_does_not_come_is_told_from_those_that_wait(judged: Judged) -> None:
    found = judged(a_rank_waits_for_another, processes("py_spy_dump_two_ranks"), HUNG)
    assert isinstance(found, Finding)
    assert found.statement.startswith("sglang::scheduler_TP1 stands in _apply (sglang/srt/sampling")
    assert "sglang::scheduler_TP0 waits for the other ranks in broadcast_pyobj" in found.statement


def test_one_look_at_stacks_is_no_hang_and_two_alike_lean_to_one(judged: Judged) -> None:
    once = processes("py_spy_dump_two_ranks")
    with pytest.raises(Undecided, match="one look does not tell"):
        judged(a_rank_waits_for_another, once)
    twice = judged(a_rank_waits_for_another, once.merged(once))
    assert isinstance(twice, Finding)
    assert twice.confidence < 0.6


def dump(*frames: str) -> Processes:
    text = "".join(
        f'Process {7 + n}: sglang::scheduler_TP{n}\nPython v3.12.3 (/usr/bin/python3.12)\n\nThread {7 + n} (active): "MainThread"\n    {frame}\n'
        "    run_scheduler_process (sglang/srt/managers/scheduler.py:2769)\n"
        for n, frame in enumerate(frames)
    )
    return ReadProcesses().parse(text)


def test_compiling_and_waiting_for_requests_are_no_hang(judged: Judged) -> None:
    compiles = dump(
        "_run_ninja_build (torch/utils/cpp_extension.py:2104)",
        "barrier (torch/distributed/distributed_c10d.py:4)",
    )
    assert isinstance(judged(a_rank_waits_for_another, compiles, HUNG), Cleared)
    idle = dump("recv_pyobj (zmq/sugar/socket.py:963)")
    assert isinstance(judged(a_rank_waits_for_another, idle), Cleared)


def test_a_rank_that_waits_for_its_gpu_counts_in_a_known_hang_alone(judged: Judged) -> None:
    seen = dump(
        "synchronize (torch/cuda/streams.py:231)",
        "all_reduce (torch/distributed/distributed_c10d.py:2806)",
    )
    with pytest.raises(Undecided):
        judged(a_rank_waits_for_another, seen.merged(seen))
    assert isinstance(judged(a_rank_waits_for_another, seen, HUNG), Finding)


def test_stacks_of_other_programs_say_nothing_of_the_schedulers(judged: Judged) -> None:
    assert judged(a_rank_waits_for_another, processes("py_spy_dump_json")) is None


@pytest.mark.parametrize("one", [detokenizer_full, process_is_stopped])
def test_stacks_alone_tell_neither_load_nor_state(judged: Judged, one: Rule) -> None:
    with pytest.raises(Undecided, match="is told"):
        judged(one, processes("py_spy_dump_two_ranks"))


def test_ports_of_two_texts_are_united() -> None:
    first, second = machine("ibstat_one_port_down"), machine("ibv_devinfo_roce")
    assert [port.name for port in first.merged(second).rdma] == [
        "mlx5_0/1",
        "mlx5_1/1",
        "mlx5_bond_0/1",
    ]
    assert second.rdma[0] == RdmaPort(
        name="mlx5_bond_0/1", state="Active", layer="Ethernet", card_type="4125"
    )
