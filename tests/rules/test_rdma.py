"""RDMA without GPUDirect: refused, left out by choice, and not needed."""

from __future__ import annotations

import pytest

from tools.errors import Undecided
from tools.nvidia.gpus import Gpus, GpuSample
from tools.nvidia.nccl import AllReduceTest, NcclLog
from tools.nvidia.nccl_log import read_nccl_log
from tools.rule import Cleared
from tools.rules.rdma import gpudirect_is_refused

LOG = """n4:9:9 [0] NCCL INFO Using network IB
n4:9:9 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'
n4:9:9 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 1 'mlx5_1'
n4:9:9 [0] NCCL INFO Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0
"""


def test_nccl_says_itself_that_it_is_disabled(judged):
    test = AllReduceTest(busbw_gb_s={1 << 27: 33.1, 1 << 30: 33.4})
    found = judged(gpudirect_is_refused, read_nccl_log(LOG), test)
    assert "mlx5_0, mlx5_1" in found.statement
    assert "33 GB/s" in found.statement


def test_used_gpudirect_clears_it(judged):
    used = read_nccl_log(LOG.replace("NET/IB/0", "NET/IB/0/GDRDMA"))
    assert isinstance(judged(gpudirect_is_refused, used), Cleared)


def test_geforce_cards_have_none(judged):
    cards = Gpus(samples=(GpuSample(index=0, name="NVIDIA GeForce RTX 4090"),))
    assert isinstance(judged(gpudirect_is_refused, read_nccl_log(LOG), cards), Cleared)


def test_without_a_refusal_it_may_be_nccls_own_choice(judged):
    with pytest.raises(Undecided, match="own choice"):
        judged(gpudirect_is_refused, NcclLog(network="IB", paths={"NET/IB": 2}, gdr=False))


@pytest.mark.parametrize("paths", [{"P2P/IPC": 4}, {}])
def test_inside_one_machine_nothing_crosses_the_network(judged, paths):
    seen = NcclLog(network="IB", paths=paths, gdr_refused=("mlx5_0",))
    assert judged(gpudirect_is_refused, seen) is None


BOTH = """a:9:9 [2] NCCL INFO Using network IB
a:9:9 [2] NCCL INFO Channel 00/0 : 9[1a000] -> 2[6b000] [receive] via NET/IB/0
b:8:8 [1] NCCL INFO Channel 00/0 : 2[6b000] -> 9[1a000] [receive] via NET/IB/0/GDRDMA
"""


def test_the_machine_that_lacks_what_its_peer_has_is_named(judged):
    found = judged(gpudirect_is_refused, read_nccl_log(BOTH))
    assert found.statement.startswith("a receives without GPUDirect")


def test_sending_without_it_is_no_sign(judged):
    log = read_nccl_log(BOTH.replace("2[6b000] [receive]", "2[6b000] [send]"))
    assert log.without_gdr == ()
    assert isinstance(judged(gpudirect_is_refused, log), Cleared)
