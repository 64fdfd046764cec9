from __future__ import annotations

from collections.abc import Callable

import pytest

from tools.engine import DecodeLine, Launch, ServerLog
from tools.errors import Undecided
from tools.nvidia.gpus import Gpus, GpuSample
from tools.nvidia.nccl import AllReduceTest, NcclLog
from tools.nvidia.topology import Pair, Topology
from tools.rule import Cleared, Finding
from tools.rules import parallelism

Judged = Callable[..., object]
MIB = 1 << 20


def gpus(word: str) -> Topology:
    return Topology(gpus=("GPU0", "GPU1"), links=(Pair(a="GPU0", b="GPU1", word=word),))


def bus(*rates: float) -> AllReduceTest:
    return AllReduceTest(busbw_gb_s={(4 << n) * MIB: rate for n, rate in enumerate(rates)})


def test_a_flat_bus_bandwidth_is_the_link_itself(judged: Judged) -> None:
    flat = parallelism.collectives_at_link_speed
    found = judged(flat, bus(8.8, 9.0, 9.2), gpus("SYS"))
    assert isinstance(found, Finding)
    assert found.category == "at_ceiling"
    assert isinstance(judged(flat, bus(7.0, 9.0, 9.2), gpus("SYS")), Cleared)
    assert isinstance(judged(flat, bus(8.8, 9.0, 9.2), gpus("NV4")), Cleared)


def test_a_link_that_is_down_is_not_called_the_ceiling(judged: Judged) -> None:
    low = GpuSample(index=0, util_pct=98, pstate=2, link_gen=1, link_gen_max=3)
    assert isinstance(
        judged(
            parallelism.collectives_at_link_speed, bus(3, 3, 3), gpus("PHB"), Gpus(samples=(low,))
        ),
        Cleared,
    )


def traffic(mb_s: float) -> Gpus:
    link = GpuSample(index=1, link_gen=4, link_width=4)  # 7.88 GB/s
    return Gpus(samples=(link, GpuSample(index=1, rx_mb_s=mb_s)))


def test_average_traffic_convicts_only_a_full_link(judged: Judged) -> None:
    two = Launch(flags={"tp_size": 2})
    link = parallelism.traffic_against_the_link
    assert isinstance(judged(link, traffic(6400), two), Finding)
    with pytest.raises(Undecided):
        judged(link, traffic(6200), two)
    with pytest.raises(Undecided):
        judged(link, traffic(1200), two)
    assert isinstance(judged(link, traffic(1100), two), Cleared)
    assert isinstance(judged(link, traffic(6400), Launch(flags={"tp_size": 1})), Cleared)


def test_a_split_without_need_is_measured_not_guessed(judged: Judged) -> None:
    with pytest.raises(Undecided) as why:
        judged(parallelism.split_without_need, gpus("NV2"), NcclLog(paths={"P2P/IPC": 2}))
    assert why.value.suspicion >= 0.3
    assert isinstance(
        judged(parallelism.split_without_need, gpus("NV2"), Launch(flags={"tp_size": 1})), Cleared
    )
    big = ServerLog(weights_gb=40.0)
    cards = Gpus(samples=(GpuSample(index=0, name="NVIDIA RTX A6000"),))
    assert isinstance(
        judged(
            parallelism.split_without_need, gpus("PHB"), Launch(flags={"tp_size": 2}), big, cards
        ),
        Cleared,
    )


def ranks(*running: int, told: int = 8) -> ServerLog:
    lines = tuple(
        DecodeLine(rank=f"DP{n} TP{n}", running=one, tok_s=11.0 * one)
        for n, one in enumerate(running)
    )
    return ServerLog(decode=lines, resolved={"dp_size": told, "enable_dp_attention": True})


def test_ranks_that_idle_are_found_when_most_have_spoken(judged: Judged) -> None:
    idle = parallelism.ranks_without_work
    assert isinstance(judged(idle, ranks(1, 0, 0, 0)), Finding)
    with pytest.raises(Undecided):
        judged(idle, ranks(1, 0, 0))
    assert isinstance(judged(idle, ranks(*[3] * 8)), Cleared)
    assert isinstance(judged(idle, ranks(*[2] * 8)), Finding)
    assert isinstance(judged(idle, ServerLog(resolved={"dp_size": 8})), Cleared)
