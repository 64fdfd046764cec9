"""A confirmed cause costs what the step model says of this deployment, and nothing where it has no say."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from tests.physics.test_headroom import ARGUMENTS, a_gpu, decode, seen
from tools.engine import DecodeLine, Launch, ServerInfo, ServerLog
from tools.evidence import Evidence
from tools.judgement import Confirmed, judge_one
from tools.known import Known
from tools.linux.machine import Machine
from tools.nvidia.gpus import Gpus
from tools.nvidia.topology import Pair, Topology
from tools.physics.costs import cost_of
from tools.physics.effect import Cost
from tools.physics.gains import gains
from tools.physics.seen import Seen
from tools.physics.whatif import Today
from tools.rule import Effect, Finding, Outcome, rule


def cost(cause: str, given: Seen, *more: Any, times_slower: float | None = None) -> Cost | None:
    facts = [*(getattr(given, field.name) for field in fields(given)), *more]

    def get(kind: type[Any], /) -> Any:
        return next((one for one in facts if isinstance(one, kind)), None)

    return cost_of(cause, get, times_slower)


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
        ("cuda_graph_disabled", argued(disable_cuda_graph=True), -80, -15),
        ("cpu_governor_powersave", {}, -12, -3),
        ("host_cpu_slow", {}, -12, -3),
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


def eager(tok_s: float, running: int = 1) -> DecodeLine:
    return decode(tok_s, running=running).model_copy(update={"graph": False})


def test_decode_without_graphs_is_priced_by_its_own_lines_where_there_are_any() -> None:
    at_once = (decode(120.0, running=2),) * 5
    log = ServerLog(engine="sglang", version="0.5.11", decode=(*at_once, *([eager(40.0, 4)] * 5)))
    given = cost("cuda_graph_bs_exceeded", seen(log=log))
    assert given
    assert "Decode lines without a graph" in given.source
    step_ms = 4 * 3.2 / 40 * 1e3
    assert given.decode_ms.mid == pytest.approx(step_ms - 61, abs=6)
    assert -85 < given.decode_pct.mid < -75


def test_lines_that_are_as_fast_as_with_graphs_cost_nothing_by_their_absence() -> None:
    log = ServerLog(engine="sglang", version="0.5.11", decode=(eager(60.0),) * 5)
    given = cost("cuda_graph_disabled", seen(log=log))
    assert given
    assert given.decode_pct.hi == 0
    assert given.decode_pct.lo > -20


def test_a_slow_host_costs_by_its_clock_and_no_more_than_the_measured_step_leaves() -> None:
    half = Machine(mhz_now=(1600.0, 1200.0), mhz_max=3200.0)
    told, guessed = cost("cpu_governor_powersave", seen(), half), cost("cpu_contention", seen())
    assert told
    assert guessed
    assert told.decode_ms.mid == pytest.approx(2.4)  # spec_v2, once more
    assert told.decode_ms.hi - told.decode_ms.lo < guessed.decode_ms.hi - guessed.decode_ms.lo
    fast = ServerLog(engine="sglang", version="0.5.11", decode=(decode(64.0),) * 5)
    bounded = cost("cpu_contention", seen(log=fast))
    assert bounded
    assert bounded.decode_ms.hi < guessed.decode_ms.hi


def test_a_link_that_a_rule_found_slow_is_priced_for_this_deployment() -> None:
    given = cost("pcie_upstream_bottleneck", seen(), times_slower=4.0)
    assert given
    assert -8 < given.decode_pct.mid < -1
    assert given.prefill_pct
    assert given.prefill_pct.mid < -25
    worse = cost("pcie_upstream_bottleneck", seen(), times_slower=8.0)
    assert worse
    assert worse.decode_pct.mid < given.decode_pct.mid
    assert cost("pcie_upstream_bottleneck", seen()) is None


def test_a_slow_pcie_link_beside_nvlink_costs_input_alone() -> None:
    bridge = Topology(links=(Pair(a="GPU0", b="GPU1", word="NV4"),))
    for cause in ("pcie_upstream_bottleneck", "pcie_gen_low_under_load", "pcie_width_narrow"):
        given = cost(cause, seen(topology=bridge), times_slower=8.0)
        over_pcie = cost(cause, seen(), times_slower=8.0)
        assert given
        assert over_pcie
        assert given.decode_ms.mid == 0
        assert given.decode_pct.lo >= -1
        assert given.prefill_pct
        assert given.prefill_pct.lo >= -2
        assert over_pcie.prefill_pct
        assert over_pcie.prefill_pct.mid < -25


def test_few_lanes_are_priced_as_seen_and_where_that_shows_none_by_what_the_rule_found() -> None:
    wide = Gpus(samples=(a_gpu(0, link_gen=4), a_gpu(1, link_gen=4)))
    assert cost("pcie_width_narrow", seen(gpus=wide)) is None
    half = cost("pcie_width_narrow", seen(gpus=wide), times_slower=2.0)
    eighth = cost("pcie_width_narrow", seen(gpus=wide), times_slower=8.0)
    assert half
    assert eighth
    assert eighth.decode_pct.mid < half.decode_pct.mid < 0
    assert "step model" in half.source
    as_seen = cost("pcie_width_narrow", seen())
    assert cost("pcie_width_narrow", seen(), times_slower=8.0) == as_seen


def test_weights_in_the_memory_of_the_host_are_not_priced_as_if_they_were_not() -> None:
    assert cost("cuda_graph_disabled", seen(**argued(cpu_offload_gb=20))) is None


def test_what_was_measured_on_this_server_goes_before_the_model() -> None:
    @rule(cause="cuda_graph_bs_exceeded")
    def found(log: ServerLog) -> Outcome:
        """Batches above the largest graph decode without one."""
        return Finding(
            "so",
            confidence=0.9,
            effect=Effect((-40.0, -30.0, -20.0), source="lines", measured=told),
        )

    given = seen()
    looks = [
        Evidence(f"E{n}", None, "", None, facts)
        for n, field in enumerate(fields(given), 1)
        if (facts := getattr(given, field.name))
    ]
    for told in (True, False):
        judged = judge_one(found, Known(looks), {})
        assert isinstance(judged, Confirmed)
        assert (judged.finding.effect.source == "lines") is told
