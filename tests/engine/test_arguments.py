from __future__ import annotations

import pytest

from tools.engine import (
    Arguments,
    Capture,
    DecodeLine,
    Launch,
    PrefillLine,
    ServerInfo,
    ServerLog,
    Traffic,
)
from tools.engine.traffic import largest_graph, seconds, step_ms


def test_the_three_values_are_kept_apart() -> None:
    args = Arguments(
        Launch(flags={"max_running_requests": 128}),
        ServerInfo(
            resolved={"max_running_requests": 64}, effective=({"max_running_requests": 50},)
        ),
        ServerLog(resolved={"max_running_requests": 99}),
    )
    name = "max_running_requests"
    assert (args.asked(name), args.resolved(name), args.effective(name), args.value(name)) == (
        128,
        64,
        50,
        50,
    )


def test_what_is_not_on_a_command_line_that_was_seen_was_not_asked() -> None:
    assert not Arguments(Launch(flags={})).was_asked("disable_cuda_graph")
    assert Arguments(Launch(flags={})).tp == 1
    assert Arguments(Launch()).tp is None
    assert Arguments().nodes is None


def test_one_meaning_has_several_names() -> None:
    vllm = Arguments(
        Launch(
            engine="vllm",
            flags={"tensor_parallel_size": 4, "enforce_eager": True, "max_num_seqs": 8},
        )
    )
    assert vllm.tp == 4
    assert vllm.on("disable_cuda_graph")
    assert vllm.count("max_running_requests") == 8
    assert vllm.flags("disable_cuda_graph") == ("--enforce-eager",)


def test_several_machines_under_ray_are_not_told() -> None:
    assert Arguments(Launch(flags={"distributed_executor_backend": "ray"})).nodes is None


@pytest.mark.parametrize(
    ("text", "version"),
    [("0.5.11.post1", (0, 5, 11)), ("v0.4", (0, 4, 0)), ("main", None), (None, None)],
)
def test_a_version_is_three_numbers(text: str | None, version: tuple[int, int, int] | None) -> None:
    assert Arguments(log=ServerLog(version=text)).version == version


def test_a_switch_is_on_in_any_spelling_and_a_number_is_no_switch() -> None:
    args = Arguments(Launch(flags={"a": True, "b": "true", "c": "0", "d": 1}))
    assert [args.on(name) for name in "abcde"] == [True, True, False, False, False]
    assert args.number("a") is None


def test_no_speculation_has_many_spellings() -> None:
    for said in (None, "None", "null", ""):
        assert not Arguments(log=ServerLog(resolved={"speculative_algorithm": said})).speculative
    assert (
        Arguments(log=ServerLog(resolved={"speculative_algorithm": "EAGLE"})).speculative == "eagle"
    )


def test_a_step_is_requests_times_accept_length_over_rate() -> None:
    assert step_ms(DecodeLine(running=2, accept_len=3.0, tok_s=100.0)) == pytest.approx(60.0)
    assert step_ms(DecodeLine(running=2, tok_s=0.0)) is None


def test_three_lines_make_a_median_and_two_do_not() -> None:
    line = DecodeLine(running=1, tok_s=50.0)
    assert Traffic(ServerLog(decode=(line,) * 3)).step() == pytest.approx(20.0)
    assert Traffic(ServerLog(decode=(line,) * 2)).step() is None


def test_draft_graphs_do_not_count_as_decode_graphs() -> None:
    log = ServerLog(
        captures=(Capture(what="draft decode", sizes=(64,)), Capture(what="decode", sizes=(1, 8)))
    )
    assert largest_graph(log) == 8


def test_an_unreadable_time_is_no_time() -> None:
    assert seconds("09-11 10:08:50") is None
    later, earlier = seconds("2026-08-17 05:20:07"), seconds("2026-08-17 05:20:04")
    assert later is not None
    assert earlier is not None
    assert later - earlier == 3


def test_stalls_of_one_rank_are_not_mixed_with_lines_of_another() -> None:
    decode = tuple(
        DecodeLine(at=f"2026-08-17 05:20:{at:02}", rank="DP1", running=3, tok_s=9.0)
        for at in (1, 30)
    )
    prefill = (
        PrefillLine(at="2026-08-17 05:20:02", rank="DP0", running=3, new_tokens=9000, tok_s=1000.0),
    )
    assert Traffic(ServerLog(decode=decode, prefill=prefill)).stalls(3.0) == ()
