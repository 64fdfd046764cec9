"""Edits of a command line: what argparse would take for the same flag goes out, and nothing else."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.change.engine import on_host
from tools.change import Change, Edit
from tools.change.edits import edited, edits_for
from tools.errors import ToolsError

HEAD = ("/opt/venv/bin/python", "-m", "sglang.launch_server")


@dataclass
class Known:
    names: tuple[str, ...]
    dest: str
    takes: int | None = 1


FLAGS = (
    Known(("--chunked-prefill-size",), "chunked_prefill_size"),
    Known(("--tensor-parallel-size", "--tp-size"), "tp_size"),
    Known(("--max-running-requests",), "max_running_requests"),
    Known(("--max-total-tokens",), "max_total_tokens"),
    Known(("--cuda-graph-bs",), "cuda_graph_bs", None),
    Known(("--disable-cuda-graph",), "disable_cuda_graph", 0),
    Known(("--disable-cuda-graph-padding",), "disable_cuda_graph_padding", 0),
    Known(("--json-model-override-args",), "json_model_override_args"),
    Known(("--random-seed",), "random_seed"),
    Known(("--config",), "config"),
)


def changed(change: Change, *argv: str) -> list[str]:
    return list(edited([*HEAD, *argv], edits_for(change, FLAGS, [*HEAD, *argv])))[len(HEAD) :]


@pytest.mark.parametrize(
    ("argv", "after"),
    [
        (["--chunked-prefill-size", "8192", "--port", "1"], ["--port", "1", "--chunked-prefill-size", "4096"]),
        (["--chunked-prefill-size=8192", "--port", "1"], ["--port", "1", "--chunked-prefill-size", "4096"]),
        (["--chunked-prefill-size", "-1", "--port", "1"], ["--port", "1", "--chunked-prefill-size", "4096"]),
        (["--chunked", "8192", "--port", "1"], ["--port", "1", "--chunked-prefill-size", "4096"]),
        (["--chunked-pre=8192"], ["--chunked-prefill-size", "4096"]),
        (["--chunked-prefill-size", "1", "--chunked=2"], ["--chunked-prefill-size", "4096"]),
        (["--port", "1"], ["--port", "1", "--chunked-prefill-size", "4096"]),
        (["--served-model-name", "--chunked-prefill-sizes"], ["--served-model-name", "--chunked-prefill-sizes", "--chunked-prefill-size", "4096"]),
        (["--port", "1", "--", "x"], ["--port", "1", "--chunked-prefill-size", "4096", "--", "x"]),
    ],
)  # fmt: skip
def test_every_spelling_of_a_flag_is_replaced(argv: list[str], after: list[str]) -> None:
    assert changed(Change(set={"chunked_prefill_size": 4096}), *argv) == after


def test_an_abbreviation_of_two_flags_is_left_alone() -> None:
    assert changed(Change(unset=("max_total_tokens",)), "--max-", "1") == ["--max-", "1"]
    assert changed(Change(unset=("max_total_tokens",)), "--max-t", "1", "--tp", "2") == [
        "--tp",
        "2",
    ]
    assert changed(Change(unset=("tp_size",)), "--tp", "2", "--max-t", "1") == ["--max-t", "1"]


def test_a_name_that_begins_another_one_is_that_flag_alone() -> None:
    assert changed(Change(unset=("disable_cuda_graph",)), "--disable-cuda-graph-padding") == [
        "--disable-cuda-graph-padding"
    ]
    assert changed(
        Change(unset=("disable_cuda_graph_padding",)),
        "--disable-cuda-graph",
        "--disable-cuda-graph-p",
    ) == ["--disable-cuda-graph"]


def test_a_list_goes_out_whole_and_comes_in_as_one_word() -> None:
    argv = ["--cuda-graph-bs", "1", "2", "-4", "8", "--port", "1"]
    assert changed(Change(unset=("cuda_graph_bs",)), *argv) == ["--port", "1"]


def test_a_switch_takes_no_value_and_false_takes_it_out() -> None:
    on, off = Change(set={"disable_cuda_graph": True}), Change(set={"disable_cuda_graph": False})
    assert changed(on, "--disable-cuda-graph", "model") == ["model", "--disable-cuda-graph"]
    assert changed(off, "--disable-cuda-graph", "model") == ["model"]


def test_a_value_that_begins_with_a_dash_is_no_flag() -> None:
    assert changed(Change(set={"random_seed": -3})) == ["--random-seed", "-3"]
    assert changed(Change(set={"json_model_override_args": "-x y"})) == [
        "--json-model-override-args=-x y"
    ]


def test_a_flag_that_the_version_does_not_have_is_refused() -> None:
    with pytest.raises(ToolsError, match="has no flag for piecewise"):
        changed(Change(set={"piecewise": True}))


def test_what_a_file_gives_is_unset_by_a_copy_of_it() -> None:
    argv = [*HEAD, "--config", "/etc/serve.yaml", "--port", "1"]
    change = Change(unset=("max_total_tokens",))
    edits = edits_for(
        change, FLAGS, argv, config="/etc/serve.yaml", in_config=("max_total_tokens",)
    )
    assert list(edited(argv, edits))[3:] == [
        "--port",
        "1",
        "--config",
        "/etc/serve.perfsleuth.yaml",
    ]
    plain = edits_for(change, FLAGS, argv, config="/etc/serve.yaml", in_config=("model_path",))
    assert list(edited(argv, plain)) == argv
    over = edits_for(
        Change(set={"max_total_tokens": 9}),
        FLAGS,
        argv,
        config="/etc/serve.yaml",
        in_config=("max_total_tokens",),
    )
    assert list(edited(argv, over)) == [*argv, "--max-total-tokens", "9"], (
        "the command line wins over the file"
    )


def test_bytes_that_are_no_text_stay_as_they_are() -> None:
    part = on_host("argv_edit")
    argv = [b"python", b"\xff\xfe", b"", b"--tp", b"2", b"a\nb"]
    edit = Edit(drop=("--tp",), add=("--tp-size", "4")).model_dump(mode="json")
    assert part["edited"](argv, [edit]) == [
        b"python",
        b"\xff\xfe",
        b"",
        b"a\nb",
        b"--tp-size",
        b"4",
    ]
    assert part["dropped"](["x", None, "--tp=2"], [edit]) == [2]


WORDS = st.sampled_from(["--chunked-prefill-size", "--chunked", "--chunked-prefill-size=7", "--tp-size", "--tensor", "5", "-2",
                         "--disable-cuda-graph", "--cuda-graph-bs", "--max-running-requests=3", "--max-t", "x"])  # fmt: skip


@given(st.lists(WORDS, max_size=8))
def test_argparse_reads_the_new_line_as_the_old_one_but_for_the_change(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(exit_on_error=False)
    for flag in FLAGS:
        kind = (
            {"action": "store_true"}
            if flag.takes == 0
            else {"nargs": "+"}
            if flag.takes is None
            else {}
        )
        parser.add_argument(*flag.names, dest=flag.dest, **kind)  # type: ignore[arg-type]
    try:
        before, rest = parser.parse_known_args(argv)
    except (argparse.ArgumentError, SystemExit):
        return
    if rest:
        return
    after = parser.parse_args(changed(Change(set={"chunked_prefill_size": 4096}), *argv))
    assert vars(after) == vars(before) | {"chunked_prefill_size": "4096"}
