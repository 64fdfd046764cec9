"""Memory on the far node: with offload it costs, without it is untidy."""

from __future__ import annotations

import pytest

from tools.engine import Launch
from tools.errors import Undecided
from tools.linux.machine import Process, Processes
from tools.nvidia.nccl import NcclLog
from tools.nvidia.topology import Pair, Topology
from tools.rule import Cleared
from tools.rules.numa import far_memory_unused, memory_on_the_far_node

OFFLOAD = Launch(flags={"cpu_offload_gb": 4})
PLAIN = Launch(flags={"tp_size": 2})


def machine(word="NV18", near="0,2-17", far="1,18-33"):
    return Topology(
        gpus=("GPU0", "GPU1"), links=(Pair(a="GPU0", b="GPU1", word=word),),
        numa={"GPU0": near, "GPU1": far},
    )  # fmt: skip


def rank(name="VLLM::EngineCore_DP0", near=311.0, far=6244.0, pid=3321):
    return Process(pid=pid, name=name, numa_mib={"0": near, "1": far})


def looks(*rows):
    return Processes(rows=rows)


def test_offloaded_weights_on_the_far_node_cost(judged):
    found = judged(memory_on_the_far_node, looks(rank()), machine(), OFFLOAD)
    assert "node 1, its GPU on node 0" in found.statement
    assert judged(far_memory_unused, looks(rank()), machine(), OFFLOAD) is None


def test_without_offload_far_memory_is_harmless(judged):
    assert isinstance(judged(memory_on_the_far_node, looks(rank()), machine(), PLAIN), Cleared)
    assert judged(far_memory_unused, looks(rank()), machine(), PLAIN).benign


def test_a_rank_on_its_own_node_is_fine(judged):
    assert isinstance(
        judged(memory_on_the_far_node, looks(rank(near=6244, far=311)), machine(), OFFLOAD), Cleared
    )


@pytest.mark.parametrize(("near", "remote"), [(20.0, True), (20.1, False)])
def test_eighty_percent_of_the_memory_decide(judged, near, remote):
    found = judged(memory_on_the_far_node, looks(rank(near=near, far=80.0)), machine(), OFFLOAD)
    assert (not isinstance(found, Cleared)) is remote


def test_staging_through_host_memory_makes_it_matter(judged):
    staged = NcclLog(paths={"SHM/direct": 2})
    assert (
        judged(memory_on_the_far_node, looks(rank()), machine("SYS"), PLAIN, staged).confidence
        == 0.65
    )


def test_an_unknown_path_is_left_open(judged):
    with pytest.raises(Undecided):
        judged(memory_on_the_far_node, looks(rank()), machine("PHB"), PLAIN)


def test_workers_without_a_rank_are_counted(judged):
    rows = [rank("VLLM::Worker", pid=n) for n in (1, 2)]
    found = judged(far_memory_unused, looks(*rows), machine(), PLAIN)
    assert "1 of 2 workers too many on node 1" in found.statement


def test_balanced_workers_are_fine(judged):
    rows = [rank("VLLM::Worker", pid=1), rank("VLLM::Worker", near=900, far=9, pid=2)]
    assert isinstance(judged(memory_on_the_far_node, looks(*rows), machine(), OFFLOAD), Cleared)


def test_memory_away_from_the_only_node_with_gpus_is_remote(judged):
    found = judged(memory_on_the_far_node, looks(rank()), machine(far="0"), OFFLOAD)
    assert "memory on node 1, its GPU on node 0" in found.statement
    near = looks(rank(near=6244.0, far=311.0))
    assert isinstance(judged(memory_on_the_far_node, near, machine(far="0"), OFFLOAD), Cleared)
    other = looks(rank(name="postgres"))
    assert isinstance(judged(memory_on_the_far_node, other, machine(far="0"), OFFLOAD), Cleared)


def test_a_node_of_the_gpus_own_memory_is_near(judged):
    row = Process(pid=1, name="python3", numa_mib={"0": 10.0, "2": 6244.0})
    one = machine(far="0,2-17")
    assert isinstance(judged(memory_on_the_far_node, looks(row), one, OFFLOAD), Cleared)


def test_unknown_memory_is_left_open(judged):
    with pytest.raises(Undecided):
        judged(memory_on_the_far_node, looks(Process(pid=1, name="x")), machine(), OFFLOAD)


def test_without_arguments_or_log_nothing_is_harmless(judged):
    with pytest.raises(Undecided, match="offloaded"):
        judged(far_memory_unused, looks(rank()), machine())
    with pytest.raises(Undecided):
        judged(memory_on_the_far_node, looks(rank()), machine())
