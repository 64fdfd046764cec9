from __future__ import annotations

from collections.abc import Callable

import pytest

from tools.engine import Benchmark, Capture, DecodeLine, Launch, ServerLog
from tools.errors import Undecided
from tools.rule import Cleared, Finding
from tools.rules import graph_sizes

Judged = Callable[..., object]
TO_24 = (Capture(what="decode", sizes=(1, 8, 24), finished=True),)


def at(running: int, tok_s: float, *, graph: bool | None, rank: str = "") -> DecodeLine:
    return DecodeLine(running=running, tok_s=tok_s, graph=graph, rank=rank)


def test_false_exactly_above_the_largest_graph_is_found_and_measured(judged: Judged) -> None:
    log = ServerLog(decode=(at(24, 3100, graph=True), at(25, 1200, graph=False)), captures=TO_24)
    found = judged(graph_sizes.batch_above_the_largest_graph, log)
    assert isinstance(found, Finding)
    assert found.effect.decode_pct is not None
    assert found.effect.decode_pct[1] == pytest.approx(-61.3, abs=0.1)


def test_a_batch_at_the_edge_is_in_the_graph(judged: Judged) -> None:
    log = ServerLog(decode=(at(24, 3100, graph=True),), captures=TO_24)
    assert isinstance(judged(graph_sizes.batch_above_the_largest_graph, log), Cleared)


def test_false_below_the_edge_is_another_cause(judged: Judged) -> None:
    log = ServerLog(decode=tuple(at(8, 300, graph=False) for _ in range(9)), captures=TO_24)
    assert isinstance(judged(graph_sizes.batch_above_the_largest_graph, log), Cleared)


def test_without_capture_lines_the_lines_themselves_show_the_edge(judged: Judged) -> None:
    cliff = ServerLog(decode=(at(16, 900, graph=True), at(17, 400, graph=False)))
    assert isinstance(judged(graph_sizes.batch_above_the_largest_graph, cliff), Finding)
    mixed = ServerLog(decode=(at(17, 900, graph=True), at(16, 400, graph=False)))
    assert isinstance(judged(graph_sizes.batch_above_the_largest_graph, mixed), Cleared)


def test_a_client_s_concurrency_tells_the_load_where_no_line_does(judged: Judged) -> None:
    log = ServerLog(captures=(Capture(what="decode", sizes=(1, 2)),), max_running=48)
    found = judged(graph_sizes.batch_above_the_largest_graph, log, Benchmark(concurrency=8))
    assert isinstance(found, Finding)
    assert found.confidence > 0.8
    with pytest.raises(Undecided):
        judged(graph_sizes.batch_above_the_largest_graph, log, Benchmark(concurrency=2))


def test_a_tiny_graph_that_was_asked_for_is_suspect_by_itself(judged: Judged) -> None:
    log = ServerLog(captures=(Capture(what="decode", sizes=(1, 2)),), max_running=48)
    launch = Launch(flags={"cuda_graph_max_bs": 2})
    assert isinstance(judged(graph_sizes.batch_above_the_largest_graph, log, launch), Finding)


def test_the_remedy_names_the_flag_of_the_version(judged: Judged) -> None:
    lines = (at(24, 3100, graph=True), at(32, 1200, graph=False))
    for version, flag in (
        ("0.5.11", "--cuda-graph-max-bs 32"),
        ("0.5.20", "--cuda-graph-max-bs-decode 32"),
    ):
        log = ServerLog(decode=lines, captures=TO_24, version=version)
        found = judged(graph_sizes.batch_above_the_largest_graph, log)
        assert isinstance(found, Finding)
        assert flag in found.remedy[0]


def ranks(each: int, count: int, *, graph: bool | None) -> ServerLog:
    lines = tuple(at(each, 180, graph=graph, rank=f"DP{n} TP{n}") for n in range(count))
    resolved = {"dp_size": count, "enable_dp_attention": True, "cuda_graph_max_bs": 160}
    return ServerLog(decode=lines, resolved=resolved)


def test_the_sum_over_ranks_above_the_largest_graph_is_found(judged: Judged) -> None:
    assert isinstance(
        judged(graph_sizes.graphs_lost_to_the_sum_over_ranks, ranks(11, 16, graph=None)), Finding
    )
    assert isinstance(
        judged(graph_sizes.graphs_lost_to_the_sum_over_ranks, ranks(10, 16, graph=None)), Cleared
    )


def test_lines_that_show_true_clear_the_sum_over_ranks(judged: Judged) -> None:
    assert isinstance(
        judged(graph_sizes.graphs_lost_to_the_sum_over_ranks, ranks(32, 16, graph=True)), Cleared
    )


def test_one_rank_has_no_sum(judged: Judged) -> None:
    log = ServerLog(decode=(at(200, 180, graph=None),), resolved={"dp_size": 1})
    assert isinstance(judged(graph_sizes.graphs_lost_to_the_sum_over_ranks, log), Cleared)
