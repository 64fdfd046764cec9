"""A proposed change, held against the flags of a version: its words in that version's spelling, or what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from bot.source.folder import SourceFolder
from tests.provenance.engines import wheel_or_skip
from tools.provenance.flags import Flag, flags_of
from tools.provenance.proposed import Proposal, applied, proposed
from tools.provenance.tree import Tree

FLAGS = [
    Flag(("--chunk-size",), "chunk_size", None, (), "", False, "a value", "int"),
    Flag(("--share",), "share", 0.9, (), "", False, "a value", "float"),
    Flag(("--backend",), "backend", None, ("fa3", "triton"), "", False, "a value", "str"),
    Flag(("--disable-cache",), "disable_cache", False, (), "", False, "nothing", "str"),
    Flag(("--strict", "--no-strict"), "strict", True, (), "", False, "nothing", "str"),
    Flag(("--sizes",), "sizes", None, (), "", False, "values", "int"),
    Flag(("--tensor-size", "--tp-size"), "tp_size", 1, (), "", False, "a value", "int"),
    Flag(("--old-size",), "chunk_size", None, (), "", True, "a value", "int", "--chunk-size"),
]


def told(**sets: Any) -> Proposal:
    return proposed(FLAGS, sets)


def kinds(found: Proposal) -> list[str]:
    return [trouble.kind for trouble in found.troubles]


def test_each_kind_of_flag_is_spelt_as_the_parser_takes_it() -> None:
    found = told(chunk_size=4096, disable_cache=True, strict=False, sizes=[1, 2, 8], tp_size=2)
    assert found.fits
    assert found.words == (
        "--chunk-size", "4096", "--disable-cache", "--no-strict", "--sizes", "1", "2", "8", "--tp-size", "2",
    )  # fmt: skip
    assert told(disable_cache=False).words == (), "a switch is off where it is not given"
    assert told(strict=True).words == ("--strict",)


def test_a_flag_that_does_not_exist_is_told_with_those_near_it() -> None:
    (trouble,) = told(chunk_sizes=1).troubles
    assert trouble.kind == "unknown"
    assert trouble.text == "this version has no flag --chunk-sizes; near it are --chunk-size"


@pytest.mark.parametrize(
    ("name", "value", "kind", "said"),
    [
        ("backend", "fa9", "choice", "--backend cannot be fa9; it is one of fa3, triton"),
        ("chunk_size", "4k", "type", "--chunk-size takes a whole number, not 4k"),
        ("share", "much", "type", "--share takes a number, not much"),
        ("share", float("nan"), "type", "--share takes a number, not nan"),
        ("chunk_size", None, "type", "--chunk-size takes a value, not None"),
        ("chunk_size", [1, 2], "type", "--chunk-size takes one value, not 2"),
        ("disable_cache", "yes", "type", "--disable-cache takes no value: it is given, or not"),
    ],
)
def test_a_value_that_the_parser_would_refuse_is_refused(
    name: str, value: Any, kind: str, said: str
) -> None:
    found = told(**{name: value})
    assert not found.fits
    assert found.words == ()
    assert [(trouble.kind, trouble.text) for trouble in found.troubles] == [(kind, said)]


def test_a_deprecated_flag_works_and_says_what_to_use() -> None:
    found = told(old_size=4096)
    assert found.fits
    assert found.words == ("--old-size", "4096")
    assert found.troubles[0].text == "--old-size is deprecated; the source says to use --chunk-size"


def test_two_flags_of_one_field_or_one_both_set_and_left_are_a_conflict() -> None:
    assert kinds(told(chunk_size=1, old_size=2)) == ["conflict", "deprecated"]
    assert kinds(proposed(FLAGS, {"share": 0.8}, ["share"])) == ["conflict"]


def test_a_flag_of_another_version_is_told_as_one() -> None:
    gone = proposed(FLAGS, {"cuda_graph_max_bs": 48}, version="0.5.20")
    assert (
        gone.troubles[0].text
        == "--cuda-graph-max-bs is gone from 0.5.20: --cuda-graph-max-bs-decode"
    )
    early = proposed(FLAGS, {"attn_dp_size": 2}, version="0.5.11")
    assert early.troubles[0].kind == "too new"
    late = proposed(FLAGS, {"enable_ep_moe": True}, version="0.5.11")
    assert late.troubles[0].kind == "removed"


def test_a_command_line_keeps_what_is_not_changed_and_loses_what_is() -> None:
    argv = (
        "python",
        "-m",
        "x",
        "--chunk",
        "64",
        "--tp=4",
        "--sizes",
        "1",
        "2",
        "--share=0.7",
        "--disable-cache",
    )
    found = proposed(FLAGS, {"chunk_size": 32}, ["sizes", "disable_cache"])
    assert applied(argv, FLAGS, found) == (
        "python", "-m", "x", "--tp=4", "--share=0.7", "--chunk-size", "32",
    )  # fmt: skip
    found = proposed(FLAGS, {"tensor_size": 2})
    assert applied(argv, FLAGS, found)[-2:] == ("--tensor-size", "2")
    assert "--tp=4" not in applied(argv, FLAGS, found)


@pytest.mark.parametrize(
    ("version", "name", "value", "words"),
    [
        ("0.5.11", "cuda_graph_max_bs", 48, ("--cuda-graph-max-bs", "48")),
        ("0.5.23", "cuda_graph_max_bs_decode", 48, ("--cuda-graph-max-bs-decode", "48")),
        ("0.5.23", "mm_enable_dp_encoder", False, ("--no-mm-enable-dp-encoder",)),
        ("0.5.23", "cuda_graph_backend_prefill", "tc_piecewise", ()),
        ("0.5.23", "enforce_piecewise_cuda_graph", True, ()),
    ],
)
def test_real_versions(version: str, name: str, value: Any, words: tuple[str, ...]) -> None:
    tree = Tree(SourceFolder(wheel_or_skip(version)))
    found = proposed(flags_of(tree), {name: value}, version=tree.version())
    assert found.words == words
    assert found.fits is bool(words)
