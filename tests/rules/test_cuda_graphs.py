from __future__ import annotations

from collections.abc import Callable

import pytest

from tools.engine import Capture, DecodeLine, Launch, Notice, ServerLog
from tools.errors import Undecided
from tools.rule import Cleared, Finding
from tools.rules import cuda_graphs

Judged = Callable[..., object]


def decode(*graphs: bool | None, running: int = 4) -> tuple[DecodeLine, ...]:
    return tuple(DecodeLine(running=running, graph=graph, tok_s=100.0) for graph in graphs)


def captured(*sizes: int) -> tuple[Capture, ...]:
    return (Capture(what="decode", sizes=sizes, finished=True),)


def test_the_flag_is_enough_and_is_named(judged: Judged) -> None:
    found = judged(
        cuda_graphs.graphs_disabled_by_flag,
        Launch(engine="sglang", flags={"disable_cuda_graph": True}),
    )
    assert isinstance(found, Finding)
    assert found.category == "config"
    assert "--disable-cuda-graph" in found.quotes


def test_a_flag_that_the_log_contradicts_is_not_believed(judged: Judged) -> None:
    launch = Launch(flags={"disable_cuda_graph": True})
    assert isinstance(
        judged(cuda_graphs.graphs_disabled_by_flag, launch, ServerLog(decode=decode(True))), Cleared
    )


def test_an_engine_that_runs_eagerly_is_the_same_cause(judged: Judged) -> None:
    launch = Launch(engine="vllm", flags={"enforce_eager": True})
    found = judged(cuda_graphs.graphs_disabled_by_flag, launch)
    assert isinstance(found, Finding)
    assert "--enforce-eager" in found.remedy[0]


def test_false_on_every_line_is_graphs_off(judged: Judged) -> None:
    found = judged(cuda_graphs.graphs_not_used, ServerLog(decode=decode(*[False] * 6)))
    assert isinstance(found, Finding)


def test_one_line_in_a_graph_clears_it(judged: Judged) -> None:
    assert isinstance(
        judged(cuda_graphs.graphs_not_used, ServerLog(decode=decode(False, True))), Cleared
    )


def test_false_only_above_the_largest_graph_is_another_cause(judged: Judged) -> None:
    log = ServerLog(decode=decode(False, False, running=9), captures=captured(1, 8))
    assert isinstance(judged(cuda_graphs.graphs_not_used, log), Cleared)
    at = ServerLog(decode=decode(False, False, running=8), captures=captured(1, 8))
    assert isinstance(judged(cuda_graphs.graphs_not_used, at), Finding)


def test_a_missing_field_in_old_lines_is_not_false(judged: Judged) -> None:
    log = ServerLog(decode=decode(None, None), captures=captured(1, 8))
    assert isinstance(judged(cuda_graphs.graphs_not_used, log), Cleared)
    with pytest.raises(Undecided):
        judged(cuda_graphs.graphs_not_used, ServerLog(decode=decode(None, None)))


def test_a_sentence_about_prefill_graphs_says_nothing_of_decode(judged: Judged) -> None:
    said = Notice(
        kind="graph_off", text="Disable prefill CUDA graph because the capture size is not set"
    )
    with pytest.raises(Undecided):
        judged(cuda_graphs.graphs_not_used, ServerLog(notices=(said,)))


def test_on_a_cpu_there_are_no_graphs_to_miss(judged: Judged) -> None:
    log = ServerLog(decode=decode(False, False), resolved={"device": "cpu"})
    assert isinstance(judged(cuda_graphs.graphs_not_used, log), Cleared)


def test_what_the_engine_resolved_by_itself_is_not_called_the_user_s_flag(judged: Judged) -> None:
    log = ServerLog(decode=decode(None), resolved={"disable_cuda_graph": True})
    found = judged(cuda_graphs.graphs_not_used, log, Launch(flags={"tp_size": 2}))
    assert isinstance(found, Finding)
    assert "engine itself" in found.statement


def test_a_capture_that_did_not_end_proves_no_graphs(judged: Judged) -> None:
    log = ServerLog(
        captures=(Capture(what="decode", sizes=(1, 2, 4)),),
        notices=(Notice(kind="start_failed", text="Capture cuda graph failed: out of memory"),),
    )
    with pytest.raises(Undecided, match="while graphs are captured"):
        judged(cuda_graphs.graphs_not_used, log)


def test_a_batch_above_the_graph_of_the_arguments_says_nothing_of_smaller_ones(
    judged: Judged,
) -> None:
    log = ServerLog(decode=decode(*[False] * 8, running=399), resolved={"cuda_graph_max_bs": 160})
    assert isinstance(judged(cuda_graphs.graphs_not_used, log), Cleared)
    small = ServerLog(decode=decode(*[False] * 8, running=4), resolved={"cuda_graph_max_bs": 160})
    assert isinstance(judged(cuda_graphs.graphs_not_used, small), Finding)
