"""DP attention on a live host: groups of GPUs with sequences of their own, and lines of each rank."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.physics.configs import DEEPSEEK
from tools.engine import Burst, BurstDecode, DecodeLine, Launch, ServerInfo, ServerLog
from tools.errors import Undecided
from tools.nvidia.gpus import Gpus, GpuSample
from tools.physics.headroom import work_out
from tools.physics.reading import cache_gb
from tools.physics.seen import Seen
from tools.physics.step import decode_step

H200 = tuple(
    GpuSample(index=n, name="NVIDIA H200", util_pct=95.0, pstate=0, link_gen=5, link_gen_max=5, link_width=16,
              link_width_max=16)
    for n in range(8)
)  # fmt: skip
ARGUMENTS: dict[str, Any] = {"tp_size": 8, "dp_size": 8, "enable_dp_attention": True, "ep_size": 8}


def lines(ranks: int, running: int, tok_s: float) -> tuple[DecodeLine, ...]:
    return tuple(
        DecodeLine(
            rank=f"DP{rank} TP{rank}",
            running=running,
            tokens=2000 * running,
            graph=True,
            tok_s=tok_s,
        )
        for _ in range(4)
        for rank in range(ranks)
    )


def seen(decode: tuple[DecodeLine, ...] = (), burst: Burst | None = None, **told: Any) -> Seen:
    return Seen(
        config=DEEPSEEK,
        gpus=Gpus(samples=H200),
        launch=Launch(engine="sglang", flags={}),
        info=ServerInfo(version="0.5.11", resolved=ARGUMENTS | told),
        log=ServerLog(engine="sglang", version="0.5.11", decode=decode),
        burst=burst,
    )


def test_the_groups_are_told_by_either_spelling_and_by_the_flag_alone_not() -> None:
    assert seen().deployment().attention_dp == 8
    assert seen(dp_size=2).deployment().attention_tp == 4
    new = {"enable_dp_attention": None, "dp_size": 1, "attn_dp_size": 4}
    assert seen(**new).deployment().attention_dp == 4
    assert seen(enable_dp_attention=False).deployment().attention_dp == 1, "copies of the model"


def test_groups_that_do_not_divide_the_gpus_are_refused_with_the_numbers() -> None:
    with pytest.raises(Undecided, match="3 attention groups do not divide 8 GPUs"):
        seen(dp_size=3).deployment()
    with pytest.raises(Undecided, match="context-parallel"):
        seen(attn_cp_size=2).deployment()


def test_the_rate_of_the_server_is_that_of_all_ranks_that_decode() -> None:
    room = work_out(seen(lines(ranks=8, running=16, tok_s=300.0)))
    assert (room.running, room.measured_tok_s) == (128, pytest.approx(2400))
    assert room.step_ms == pytest.approx(16 / 300 * 1e3)
    assert sum(ms.mid for _, ms in room.terms) == pytest.approx(room.step_ms)
    assert work_out(seen(lines(ranks=2, running=16, tok_s=300.0))).running == 32


def test_a_burst_has_counted_all_ranks_already() -> None:
    burst = Burst(decode=(BurstDecode(streams=8, tok_s=200.0, step_ms=40.0, tokens=800),))
    room = work_out(seen(lines(ranks=8, running=16, tok_s=300.0), burst))
    assert (room.running, room.measured_tok_s) == (8, 200.0)


def test_a_cold_prompt_is_read_by_one_rank_alone_so_it_is_not_held_against_all_gpus() -> None:
    room = work_out(seen(lines(ranks=8, running=16, tok_s=300.0)))
    assert room.prefill_tok_s is None
    assert room.prefill_terms == ()


def test_the_cache_of_the_fullest_rank_counts_and_a_lone_sequence_is_whole() -> None:
    now = seen().deployment()
    assert now.rank_batch == 1, "one sequence on one of eight"
    nine, eight = replace(now, batch=9), replace(now, batch=8)
    assert cache_gb(nine) == pytest.approx(2 * cache_gb(eight))
    together = replace(now, attention_dp=1)
    assert decode_step(eight).weights.mid > decode_step(replace(together, batch=8)).weights.mid
