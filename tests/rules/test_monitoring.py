"""Fields of a monitoring page at zero: not filled, or true."""

from __future__ import annotations

import pytest

from tools.engine import DecodeLine, ServerLog
from tools.nvidia.dcgm import read_dcgm
from tools.nvidia.nccl import AllReduceTest
from tools.nvidia.topology import Pair, Topology
from tools.rule import Cleared, Finding
from tools.rules.monitoring import engine_active_stands_at_zero, nvlink_bytes_stand_at_zero

TOPOLOGY = Topology(gpus=("GPU0", "GPU1"), links=(Pair(a="GPU0", b="GPU1", word="NV12"),))


def page(*rows, name="PROF_GR_ENGINE_ACTIVE"):
    lines = [
        f'DCGM_FI_{field}{{gpu="{n}",modelName="NVIDIA A100-SXM4-80GB"}} {value}\n'
        for n, (active, util) in enumerate(rows)
        for field, value in ((name, active), ("DEV_GPU_UTIL", util))
    ]
    return read_dcgm("".join(lines))


def serving():
    lines = [DecodeLine(running=8, tok_s=900.0 + n % 3) for n in range(30)]
    return ServerLog(decode=tuple(lines))


def test_zero_activity_beside_full_utilisation_is_a_field_that_is_not_filled(judged):
    found = judged(engine_active_stands_at_zero, page((0, 99), (0, 100)), serving())
    assert isinstance(found, Finding)
    assert found.benign
    assert found.confidence == 0.9
    assert judged(engine_active_stands_at_zero, page((0, 99), (0, 100))).confidence == 0.7


@pytest.mark.parametrize(
    "rows",
    [((0, 0), (0, 0)), ((0, 99), (0, 3)), ((0.91, 99), (0, 99)), ((0, 60), (0, 99))],
    ids=["idle", "one", "filled", "half"],
)
def test_a_zero_that_may_be_true_is_not_explained_away(judged, rows):
    assert isinstance(judged(engine_active_stands_at_zero, page(*rows)), Cleared)


def nvlink(*rows):
    return page(*rows, name="PROF_NVLINK_TX_BYTES")


def test_an_all_reduce_that_no_slot_gives_shows_that_nvlink_is_used(judged):
    test = AllReduceTest(busbw_gb_s={1 << 30: 231.7})
    found = judged(nvlink_bytes_stand_at_zero, nvlink((0, 90), (0, 90)), test, TOPOLOGY)
    assert isinstance(found, Finding)
    assert found.benign
    assert "232 GB/s (NV12 between the GPUs)" in found.statement


def test_a_slow_all_reduce_or_counted_bytes_explain_nothing_away(judged):
    slow, fast = (
        AllReduceTest(busbw_gb_s={1 << 30: 14.0}),
        AllReduceTest(busbw_gb_s={1 << 30: 231.0}),
    )
    assert isinstance(judged(nvlink_bytes_stand_at_zero, nvlink((0, 90)), slow), Cleared)
    assert isinstance(judged(nvlink_bytes_stand_at_zero, nvlink((7e9, 90)), fast), Cleared)
