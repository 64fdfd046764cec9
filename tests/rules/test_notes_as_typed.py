"""Results in the forms in which people type them, and what such a note may cost to read."""

from __future__ import annotations

import pytest

from tools.engine.before_after import MOST as PAIRS
from tools.engine.note import RUNS, read_note
from tools.engine.plain_words import in_plain_words
from tools.engine.trial import Arm, Trials
from tools.engine.typed_figures import MOST, figures
from tools.errors import Undecided
from tools.rule import Finding, Outcome
from tools.rules.trials import RULES as TRIED


def note(text: str) -> Trials:
    found = read_note(text)
    assert found
    return found


def arms(text: str) -> tuple[Arm, ...]:
    (trial,) = note(text).trials
    return trial.arms


def tried(cause: str, text: str) -> Outcome:
    one = next(one for one in TRIED if one.cause.id == cause)
    return one.judge(trials=note(text), claim=None, gpus=None, launch=None, info=None, log=None)


@pytest.mark.parametrize(
    "line",
    [
        "removed --disable-cuda-graph: 23.4 -> 61.8 tok/s",
        "removed --disable-cuda-graph, decode from 23.4 tok/s to 61.8 tok/s",
        "61.8 tok/s (before: 23.4) with --disable-cuda-graph removed",
        "removed --disable-cuda-graph: was 23.4, now 61.8 tok/s",
        "removed --disable-cuda-graph: 23.4 before, 61.8 tok/s after",
        "removed --disable-cuda-graph: 61.8 tok/s, up from 23.4 tok/s",
        "去掉 --disable-cuda-graph 后，解码从 23.4 tok/s 提高到 61.8 tok/s",
    ],
)
def test_one_line_of_two_runs_tells_both_in_the_order_of_time(line: str) -> None:
    before, after = arms(line)
    assert before.label == "before"
    assert "--disable-cuda-graph" in after.label
    assert [one.figures[0].value for one in (before, after)] == [23.4, 61.8]
    assert {before.line, after.line} == {line}
    assert isinstance(tried("cuda_graph_disabled", line), Finding)


def test_a_setting_before_an_arrow_is_no_result() -> None:
    sweep = "stream-interval 4 -> 52 ms\nstream-interval 8 -> 49 ms"
    assert [one.figures[0].value for one in arms(sweep)] == [52.0, 49.0]


def test_before_and_after_in_several_lines_are_conditions_of_each_run() -> None:
    text = "0.5.15: 66 tok/s before, 12 tok/s after\n0.5.11: 65 tok/s before, 66 tok/s after"
    assert [(one.label, one.at) for one in arms(text)] == [
        ("0.5.15", "before"),
        ("0.5.15", "after"),
        ("0.5.11", "before"),
        ("0.5.11", "after"),
    ]


def test_two_switches_turned_between_before_and_after_prove_neither() -> None:
    text = "removed --disable-cuda-graph and set governor to performance: 28 -> 57 tok/s"
    for cause in ("cuda_graph_disabled", "cpu_governor_powersave"):
        with pytest.raises(Undecided, match="two things at once"):
            tried(cause, text)


def test_what_holds_for_both_runs_was_not_done_between_them() -> None:
    assert not read_note("same flags, --disable-cuda-graph\ndecode 28 tok/s (before: 57 tok/s)")
    assert read_note("took --disable-cuda-graph out\ndecode 57 tok/s (before: 28 tok/s)")


def test_a_result_in_a_terminal_belongs_to_the_commands_since_the_last_one() -> None:
    text = (
        "$ cat scaling_governor\npowersave\n$ python bench.py\n29.4 tok/s\nTTFT 0.3 s\n"
        "$ cpupower frequency-set -g performance\n$ python bench.py\n41.7 tok/s\n"
    )
    assert [one.label for one in arms(text)] == [
        "cat scaling_governor, powersave, python bench.py",
        "cat scaling_governor, powersave, python bench.py",
        "cpupower frequency-set -g performance, python bench.py",
    ]


def test_a_command_with_a_word_less_is_the_run_without_it() -> None:
    text = "$ NCCL_P2P_DISABLE=1 ./copies -g 2\n5.8 GB/s\n$ ./copies -g 2\n20.4 GB/s\n"
    assert isinstance(tried("nccl_p2p_disable", text), Finding)


def test_a_run_with_a_time_came_to_its_end_where_the_other_hangs() -> None:
    text = "tokenizer-worker-num 2: hangs at 1309/4096\ntokenizer-worker-num 1: 4096/4096 in 118 s"
    found = tried("server_hung", text)
    assert isinstance(found, Finding)
    assert "crash" in found.slows
    with pytest.raises(Undecided):  # faster with fewer is no hang
        tried("server_hung", "tokenizer-worker-num 2: 131 s\ntokenizer-worker-num 1: 118 s")


def test_sizes_are_compared_with_their_unit() -> None:
    text = "--shm-size 64m: hangs at start\n--shm-size 16g: ready in 74 s"
    assert isinstance(tried("shm_too_small", text), Finding)


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("55,3 tok/s", "55.3 tok/s"),
        ("12,500 tok/s", "12,500 tok/s"),
        ("build stopped    49,2", "build stopped    49.2"),
        ("3g.40gb,50.3", "3g.40gb,50.3"),
        ("ohne Graphen: 20 tok/s", "without Graphen: 20 tok/s"),
        ("关闭 ACS：22 GB/s", "without ACS: 22 GB/s"),
        ("ACS 关闭：22 GB/s", "ACS off: 22 GB/s"),
    ],
)
def test_decimal_commas_and_words_of_other_languages_are_put_plainly(
    typed: str, plain: str
) -> None:
    assert in_plain_words(typed).strip() == plain


def test_more_than_a_person_types_is_no_note() -> None:
    two = "with --disable-cuda-graph: 20 tok/s\nwithout: 47 tok/s\n"
    assert read_note(two * (RUNS // 2))
    assert not read_note(two * (RUNS // 2 + 1))
    pair = "removed --disable-cuda-graph: 23 tok/s -> 61 tok/s\n"
    assert read_note(pair * PAIRS)
    assert not read_note(pair * (PAIRS + 1))
    assert len(figures("+5% " * MOST)) == MOST
    assert not figures("+5% " * (MOST + 1))
