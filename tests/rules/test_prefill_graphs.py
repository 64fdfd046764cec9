from __future__ import annotations

from collections.abc import Callable

import pytest

from tools.engine import (
    Launch,
    ModelConfig,
    Notice,
    PrefillLine,
    ServerLog,
    SourceLine,
    SourceLines,
)
from tools.errors import Undecided
from tools.rule import Cleared, Finding
from tools.rules import prefill_graphs

Judged = Callable[..., object]
COLD = (PrefillLine(new_tokens=2048, cached_tokens=0, graph=False),)
BLAMES = Notice(
    kind="graph_off",
    text="Disable piecewise CUDA graph because --disable-piecewise-cuda-graph is set",
)
GQA = Notice(
    kind="graph_off",
    text="Disable prefill CUDA graph because some layers do not apply Standard GQA",
)


def test_a_silent_override_is_told_from_the_user_s_flag(judged: Judged) -> None:
    log = ServerLog(
        version="0.5.11",
        prefill=COLD,
        notices=(BLAMES,),
        resolved={"disable_piecewise_cuda_graph": True},
    )
    found = judged(prefill_graphs.prefill_graph_off, log, Launch(flags={"tp_size": 2}))
    assert isinstance(found, Finding)
    assert found.benign
    assert "nobody asked" in found.statement
    assert "blames a flag" in found.statement
    typed = judged(
        prefill_graphs.prefill_graph_off, log, Launch(flags={"disable_piecewise_cuda_graph": True})
    )
    assert isinstance(typed, Finding)
    assert "is on the command line" in typed.statement


def test_the_trap_is_named_where_it_is_one(judged: Judged) -> None:
    def statement(version: str, algorithm: str | None) -> str:
        resolved = {"disable_piecewise_cuda_graph": True, "speculative_algorithm": algorithm}
        found = judged(
            prefill_graphs.prefill_graph_off,
            ServerLog(version=version, prefill=COLD, resolved=resolved),
        )
        assert isinstance(found, Finding)
        return found.statement

    assert "trap" in statement("0.5.11", "EAGLE")
    assert "trap" in statement("0.5.13", "NEXTN")
    assert "trap" not in statement("0.5.14", "EAGLE")
    assert "trap" not in statement("0.5.11", None)


def test_the_source_line_that_writes_the_field_is_cited(judged: Judged) -> None:
    line = SourceLine(
        path="srt/server_args.py",
        line=1230,
        text="            self.disable_piecewise_cuda_graph = True",
    )
    lines = SourceLines(needle="disable_piecewise_cuda_graph", found=(line,))
    log = ServerLog(prefill=COLD, resolved={"disable_piecewise_cuda_graph": True})
    found = judged(prefill_graphs.prefill_graph_off, log, lines)
    assert isinstance(found, Finding)
    assert "srt/server_args.py:1230" in found.statement


def test_the_rule_that_fires_is_named_with_its_line(judged: Judged) -> None:
    log = ServerLog(version="0.5.11", prefill=COLD, resolved={"disable_piecewise_cuda_graph": True})
    seen = Launch(flags={"tp_size": 2})
    found = judged(prefill_graphs.prefill_graph_off, log, seen, ModelConfig(multimodal=True))
    assert isinstance(found, Finding)
    assert "srt/server_args.py:1230 (the model is multimodal) of 0.5.11" in found.statement
    line = SourceLine(
        path="srt/server_args.py", line=1230, text="self.disable_piecewise_cuda_graph = True"
    )
    lines = SourceLines(needle="disable_piecewise_cuda_graph", found=(line,))
    checked = judged(
        prefill_graphs.prefill_graph_off, log, seen, ModelConfig(multimodal=True), lines
    )
    assert isinstance(checked, Finding)
    assert "the installed source has those lines" in checked.statement


def test_two_rules_can_fire_in_one_version(judged: Judged) -> None:
    resolved = {"disable_piecewise_cuda_graph": True, "speculative_algorithm": "EAGLE"}
    log = ServerLog(version="0.5.10", prefill=COLD, resolved=resolved)
    found = judged(prefill_graphs.prefill_graph_off, log, ModelConfig(multimodal=True))
    assert isinstance(found, Finding)
    assert (
        "1111 (the model is multimodal) and srt/server_args.py:1090 (speculative decoding)"
        in found.statement
    )


def test_a_graph_that_was_asked_for_and_refused_is_a_finding(judged: Judged) -> None:
    launch = Launch(flags={"cuda_graph_backend_prefill": "breakable"})
    found = judged(
        prefill_graphs.prefill_graph_refused, launch, ServerLog(prefill=COLD, notices=(GQA,))
    )
    assert isinstance(found, Finding)
    assert found.category == "config"
    assert not found.benign
    with pytest.raises(Undecided):
        judged(prefill_graphs.prefill_graph_refused, launch, ServerLog())


def test_prefill_lines_in_a_graph_clear_it(judged: Judged) -> None:
    log = ServerLog(
        prefill=(PrefillLine(new_tokens=900, graph=True),),
        resolved={"disable_piecewise_cuda_graph": True},
    )
    assert isinstance(judged(prefill_graphs.prefill_graph_off, log), Cleared)


def test_false_without_a_reason_is_normal(judged: Judged) -> None:
    assert isinstance(judged(prefill_graphs.prefill_graph_off, ServerLog(prefill=COLD)), Cleared)


def test_a_version_that_has_them_on_request_only_is_no_finding(judged: Judged) -> None:
    off = {"disable_piecewise_cuda_graph": True}
    assert isinstance(
        judged(
            prefill_graphs.prefill_graph_off, ServerLog(version="0.5.9", prefill=COLD, resolved=off)
        ),
        Cleared,
    )
    assert isinstance(
        judged(
            prefill_graphs.prefill_graph_off,
            ServerLog(version="0.5.10", prefill=COLD, resolved=off),
        ),
        Finding,
    )


def test_a_decode_sentence_is_not_taken_for_prefill(judged: Judged) -> None:
    decode = Notice(
        kind="graph_off",
        text="Cuda graph is disabled because of using torch native attention backend",
    )
    assert isinstance(
        judged(prefill_graphs.prefill_graph_off, ServerLog(prefill=COLD, notices=(decode,))),
        Cleared,
    )
