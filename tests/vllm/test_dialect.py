"""Nobody who runs vLLM is told to use a flag of SGLang."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.evidence import learn
from tools.host import Output
from tools.knowledge import CAUSES
from tools.probes import PROBES
from tools.probes.server_log import ReadServerLog
from tools.rules import RULES
from tools.verdict import Verdict, judge
from tools.vllm.dialect import NO_STEP, foreign, in_words_of_vllm, steps_for_vllm

GOLDEN = Path(__file__).parent.parent / "golden" / "ReadServerLog"


def verdict_of(name: str) -> Verdict:
    text = (GOLDEN / f"{name}.out").read_text("utf-8")
    return judge([learn(1, ReadServerLog(), "log", Output(stdout=text))], RULES, PROBES)


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("vllm_0_6_3_eager_awq", "cuda_graph_disabled"),
        ("vllm_0_9_1_v1_queue", "batching_limits"),
        ("vllm_0_11_0_v1_drafts_refused", "draft_head_broken"),
    ],
)
def test_a_log_of_vllm_is_judged_in_its_own_words(name: str, cause: str) -> None:
    verdict = verdict_of(name)
    assert verdict.cause == cause
    for one in (*verdict.findings, *verdict.asides):
        assert one.finding.remedy
        for step in (*one.finding.remedy, one.finding.statement, one.finding.verify):
            assert not foreign(step), step
            assert "#running-req" not in step
        for quote in one.finding.quotes:
            assert "Decode batch" not in quote


def test_a_quoted_line_of_vllm_reads_as_it_does_in_the_log() -> None:
    text = (GOLDEN / "vllm_0_9_1_v1_queue.out").read_text("utf-8")
    quotes = verdict_of("vllm_0_9_1_v1_queue").findings[0].finding.quotes
    assert quotes
    assert all(part in text for quote in quotes for part in quote.split(", ")[1:])


@pytest.mark.parametrize("cause", sorted(CAUSES))
def test_no_step_of_the_catalogue_brings_a_foreign_flag(cause: str) -> None:
    steps = CAUSES[cause].remedy
    kept = steps_for_vllm(steps)
    assert bool(kept) == bool(steps)
    assert not [step for step in kept if foreign(step)]


def test_flags_are_renamed_and_those_of_other_programs_left_alone() -> None:
    step = "Lower --context-length or --dp-size 2; docker run --ipc=host, numactl --cpunodebind=0"
    assert in_words_of_vllm(step) == (
        "Lower --max-model-len or --data-parallel-size 2; docker run --ipc=host, numactl --cpunodebind=0"
    )


def test_the_part_of_a_step_that_vllm_does_not_have_is_left_out() -> None:
    assert steps_for_vllm(["--chunked-prefill-size 1024 to 2048, or --enable-mixed-chunk"]) == (
        "--max-num-batched-tokens 1024 to 2048",
    )
    assert steps_for_vllm(["--enable-mixed-chunk"]) == (NO_STEP,)
    assert steps_for_vllm([]) == ()
