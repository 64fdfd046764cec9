"""The headroom adds up to what was measured, and refuses what the step model does not know."""

from __future__ import annotations

from typing import Any

import pytest

from tests.physics.configs import QWEN14, QWEN27
from tools.engine import DecodeLine, Launch, ModelConfig, PrefillLine, ServerInfo, ServerLog
from tools.errors import Undecided
from tools.nvidia.gpus import Gpus, GpuSample
from tools.nvidia.topology import Pair, Topology
from tools.physics import HOST_MS
from tools.physics.headroom import headroom, work_out
from tools.physics.losses import link_loss
from tools.physics.seen import Seen

ARGUMENTS: dict[str, Any] = {
    "tp_size": 2,
    "speculative_algorithm": "EAGLE",
    "speculative_num_steps": 3,
    "speculative_num_draft_tokens": 4,
    "chunked_prefill_size": 4096,
}


def a_gpu(index: int, **told: Any) -> GpuSample:
    busy = {
        "name": "NVIDIA RTX A6000",
        "util_pct": 94.0,
        "pstate": 2,
        "link_gen": 1,
        "link_gen_max": 4,
        "link_width": 16,
        "link_width_max": 16,
    }
    return GpuSample(index=index, **(busy | told))


def decode(tok_s: float, accept_len: float | None = 3.2, running: int = 1) -> DecodeLine:
    return DecodeLine(
        running=running, tokens=2000 * running, accept_len=accept_len, graph=True, tok_s=tok_s
    )


def seen(**told: Any) -> Seen:
    rates = (54.8, 55.0, 55.1, 55.0)
    log = ServerLog(
        engine="sglang", version="0.5.11", decode=tuple(map(decode, rates)), graph_addresses=516
    )
    parts: dict[str, Any] = {
        "config": QWEN27,
        "gpus": Gpus(samples=(a_gpu(0), a_gpu(1))),
        "launch": Launch(engine="sglang", flags={}),
        "info": ServerInfo(version="0.5.11", resolved=ARGUMENTS),
        "log": log,
        "topology": Topology(
            links=(Pair(a="GPU0", b="GPU1", word="PHB"),),
            p2p=(Pair(a="GPU0", b="GPU1", word="OK"),),
        ),
    }
    return Seen(**(parts | told))


def test_the_terms_add_up_to_the_measured_step_and_name_the_slow_link() -> None:
    room = work_out(seen(), claimed_tok_s=70)
    assert room.step_ms == pytest.approx(3.2 / 55 * 1e3)
    assert sum(ms.mid for _, ms in room.terms) == pytest.approx(room.step_ms)
    named = {name: ms.mid for name, ms in room.terms}
    assert named["weights"] == pytest.approx(47.4, abs=0.1)
    assert named["KV cache and state"] == pytest.approx(0.65, abs=0.05)
    assert named["PCIe Gen1 x16 instead of PCIe Gen4 x16"] == pytest.approx(1.95, abs=0.05)
    assert room.ceiling_tok_s.mid == pytest.approx(59.8, abs=0.1)
    assert room.expected_tok_s.mid == pytest.approx(56.9, abs=0.1)
    assert room.accept_len_needed == pytest.approx(3.75, abs=0.01)
    assert room.share_pct == pytest.approx(92, abs=0.5)
    for _, ms in room.terms:
        assert ms.lo <= ms.mid <= ms.hi


def test_the_sentences_say_the_figures_and_contradict_the_memory() -> None:
    text = " ".join(work_out(seen(), claimed_tok_s=70).sentences())
    for part in (
        "55 tok/s with one stream",
        "92 %",
        "of the 60",
        "expect 57 tok/s",
        "It will not be 70",
        "3.75",
    ):
        assert part in text
    text = " ".join(work_out(seen(), claimed_tok_s=90).sentences())
    assert "90 tok/s would need 4.82 tokens a step, and 4 are the most" in text
    text = " ".join(work_out(seen(), claimed_tok_s=58).sentences())
    assert "will not" not in text


def test_a_link_seen_idle_alone_is_taken_as_healthy() -> None:
    idle = Gpus(samples=(a_gpu(0, util_pct=0.0, pstate=8), a_gpu(1, util_pct=0.0, pstate=8)))
    room = work_out(seen(gpus=idle))
    assert room.link_cost is None
    assert [name for name, _ in room.terms] == [
        "weights",
        "KV cache and state",
        "kernels",
        "links",
        "host",
        "unexplained",
    ]


def test_cold_prefill_counts_only_chunks_that_follow_another_at_once() -> None:
    first = PrefillLine(new_tokens=4096, cached_tokens=0, running=0, pending=4096, tok_s=3.0)
    second = PrefillLine(new_tokens=4096, cached_tokens=0, running=0, pending=0, tok_s=1430.0)
    beside = second.model_copy(update={"running": 2, "tok_s": 700.0})
    cached = second.model_copy(update={"cached_tokens": 4000, "tok_s": 9000.0})
    log = seen().log
    assert log
    lines = (first, second, first, beside, first, cached, second)
    room = work_out(seen(log=log.model_copy(update={"prefill": lines})))
    assert room.prefill_tok_s == 1430.0
    assert room.prefill_ceiling
    assert room.prefill_ceiling.rounded(-2) == (2400.0, 3000.0, 3600.0)


def test_a_plain_model_on_one_gpu_has_neither_links_nor_drafts() -> None:
    log = ServerLog(engine="sglang", version="0.5.11", decode=(decode(24.0, None),) * 3)
    one = seen(
        config=QWEN14,
        gpus=Gpus(samples=(a_gpu(0),)),
        info=ServerInfo(resolved={"tp_size": 1}),
        log=log,
    )
    room = work_out(one)
    assert [name for name, _ in room.terms] == [
        "weights",
        "KV cache and state",
        "kernels",
        "host",
        "unexplained",
    ]
    assert room.accept_len == 1.0
    assert room.accept_len_max is None


MIXED = Gpus(samples=(a_gpu(0), a_gpu(1, name="NVIDIA RTX A5000")))
UNKNOWN = Gpus(samples=(a_gpu(0, name="NVIDIA RTX 5880 Ada Generation"),))


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"config": None}, "config was not read"),
        ({"log": None}, "no serve log"),
        ({"gpus": None}, "no GPU was seen"),
        ({"gpus": MIXED}, "not of one kind"),
        ({"gpus": UNKNOWN}, "5880"),
        ({"log": ServerLog(decode=(decode(55.0),))}, "too few"),
        ({"log": ServerLog(decode=(decode(55.0, None),) * 3)}, "accept length"),
        ({"log": ServerLog(decode=(decode(140.0),) * 3)}, "faster than"),
        ({"info": ServerInfo(resolved=ARGUMENTS | {"pp_size": 2})}, "pipeline"),
        ({"info": ServerInfo(resolved=ARGUMENTS | {"attn_cp_size": 2})}, "context-parallel"),
        ({"info": ServerInfo(resolved=ARGUMENTS | {"speculative_algorithm": "NGRAM"})}, "ngram"),
        ({"info": None, "launch": None}, "how many GPUs"),
        ({"config": QWEN14}, "draft model"),
        ({"config": ModelConfig()}, "layers"),
    ],
)
def test_what_is_not_known_is_refused_by_name(told: dict[str, Any], says: str) -> None:
    with pytest.raises(Undecided, match=says):
        work_out(seen(**told))


def test_where_nothing_is_known_there_is_no_headroom() -> None:
    assert headroom(lambda kind: None) is None


def test_a_rule_is_told_what_the_slow_link_costs_or_nothing() -> None:
    cost = link_loss(seen())
    assert cost
    assert cost.decode_pct.mid == pytest.approx(-3.3, abs=0.11)
    assert cost.prefill_pct
    assert cost.prefill_pct.mid == pytest.approx(-51.3, abs=0.3)
    fine = Gpus(samples=(a_gpu(0, link_gen=4), a_gpu(1, link_gen=4)))
    assert link_loss(seen(gpus=fine)) is None
    assert link_loss(seen(config=None)) is None
    without_traffic = link_loss(seen(log=None))
    assert without_traffic
    assert without_traffic.decode_pct.mid == pytest.approx(-3.5, abs=0.11)


def test_boards_that_are_wired_by_nvlink_need_no_look_at_it() -> None:
    wired = Gpus(samples=tuple(GpuSample(index=n, name="NVIDIA A100-SXM4-80GB") for n in (0, 1)))
    assert seen(gpus=wired, topology=None).link().nvlink
    bridged = Gpus(samples=tuple(GpuSample(index=n, name="NVIDIA RTX A6000") for n in (0, 1)))
    with pytest.raises(Undecided, match="PCIe link"):
        seen(gpus=bridged, topology=None).link()


@pytest.mark.parametrize(
    ("version", "flags", "host"),
    [
        ("0.13.0", {}, "vllm_sync"),
        ("0.14.0", {}, "overlap"),
        ("0.21.1", {"no_async_scheduling": True}, "vllm_sync"),
        ("0.11.1", {"async_scheduling": True}, "overlap"),
        (None, {}, "overlap"),
    ],
)
def test_a_vllm_that_schedules_in_turn_with_the_gpu_keeps_it_waiting(
    version: str | None, flags: dict[str, Any], host: str
) -> None:
    launch = Launch(engine="vllm", version=version, flags={"tensor_parallel_size": 2, **flags})
    d = seen(launch=launch, info=None, log=None).deployment()
    assert d.host_ms == HOST_MS[host]
