"""Two model servers on one GPU, and one server that has all its GPUs."""

from __future__ import annotations

import pytest

from tools.nvidia.gpus import GpuProcess, Gpus, GpuSample
from tools.rules.sharing import somebody_else_on_the_gpu
from tools.rules.two_servers import two_servers_on_one_gpu


def held(*pids, used=36_000.0, name="VLLM::Worker_TP0", in_use=73_000.0):
    return Gpus(
        samples=(GpuSample(index=0, util_pct=99, pstate=0, mem_used_mib=in_use),),
        processes=tuple(GpuProcess(gpu=0, pid=pid, name=name, used_mib=used) for pid in pids),
    )


@pytest.mark.parametrize("name", ["VLLM::Worker_TP0", "sglang::scheduler_TP0"])
def test_two_ranks_on_one_gpu_are_of_two_servers(judged, name):
    found = judged(two_servers_on_one_gpu, held(1, 2, name=name))
    assert "pids 1 and 2" in found.statement
    assert judged(somebody_else_on_the_gpu, held(1, 2, name=name)) is None


@pytest.mark.parametrize(
    "fine",
    [
        held(1),
        held(1, 1),
        held(1, 2, used=500.0),
        held(1, 2, name="python3"),
        held(1, 2, used=70_000.0),
    ],
    ids=["one", "twice told", "a small context", "another program", "before and after a restart"],
)
def test_one_rank_at_a_time_or_an_unknown_program_is_not(judged, fine):
    assert judged(two_servers_on_one_gpu, fine) is None
