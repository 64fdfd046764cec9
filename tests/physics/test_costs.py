"""A confirmed cause costs what the step model says of this deployment, and nothing where it has no say."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from tests.physics.test_headroom import ARGUMENTS, a_gpu, seen
from tools.engine import Launch, ServerInfo
from tools.nvidia.gpus import Gpus
from tools.nvidia.topology import Pair, Topology
from tools.physics.costs import cost_of
from tools.physics.effect import Cost
from tools.physics.gains import gains
from tools.physics.seen import Seen
from tools.physics.whatif import Today


def cost(cause: str, given: Seen) -> Cost | None:
    facts = [getattr(given, field.name) for field in fields(given)]

    def get(kind: type[Any], /) -> Any:
        return next((one for one in facts if isinstance(one, kind)), None)

    return cost_of(cause, get)


def argued(**told: Any) -> dict[str, Any]:
    return {"info": ServerInfo(version="0.5.11", resolved=ARGUMENTS | told)}


NO_PEER = Topology(
    links=(Pair(a="GPU0", b="GPU1", word="PHB"),), p2p=(Pair(a="GPU0", b="GPU1", word="NS"),)
)


@pytest.mark.parametrize(
    ("cause", "told", "low", "high"),
    [
        ("nccl_p2p_disable", {"topology": NO_PEER}, -11, -3),
        ("custom_allreduce_off", argued(disable_custom_all_reduce=True), -5, -1),
        ("overlap_off_spec_v1", argued(disable_overlap_schedule=True), -4, -1),
        ("pcie_width_narrow", {}, -6, -2),
        ("nvlink_inactive", {}, -7, -2),
        ("ecc_on_gddr6", {}, -6, -3),
        ("mem_clock_low", {"gpus": Gpus(samples=(a_gpu(0, mem_mhz=5001.0), a_gpu(1)))}, -36, -25),
    ],
)
def test_a_cause_costs_decode_what_the_model_says(
    cause: str, told: dict[str, Any], low: float, high: float
) -> None:
    given = cost(cause, seen(**told))
    assert given
    assert low < given.decode_pct.mid < high
    assert given.decode_pct.lo <= given.decode_pct.mid <= given.decode_pct.hi <= 0
    assert "step model" in given.source


def test_where_the_model_has_no_say_nothing_is_priced() -> None:
    assert cost("thermal_slowdown", seen()) is None
    assert cost("nccl_p2p_disable", seen(config=None)) is None
    assert cost("mem_clock_low", seen()) is None
    one = seen(gpus=Gpus(samples=(a_gpu(0),)), info=ServerInfo(resolved=ARGUMENTS | {"tp_size": 1}))
    assert cost("nccl_p2p_disable", one) is None


def test_what_each_change_would_give_is_told_with_the_largest_first() -> None:
    given = seen(topology=NO_PEER, launch=Launch(engine="sglang", flags={}))
    told = {one.change: one for one in gains(Today.of(given), given)}
    assert "peer access between the GPUs" in told
    best = [max(g.decode_pct.mid, g.prefill_pct.mid if g.prefill_pct else 0) for g in told.values()]
    assert best == sorted(best, reverse=True)
    assert all(one >= 1 for one in best)
    assert told["4-bit weights (quality is yours to judge)"].decode_pct.mid > 50
