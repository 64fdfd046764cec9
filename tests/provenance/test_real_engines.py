"""One real deployment over six versions: who turned its prefill graphs off, and what the log made of it."""

from __future__ import annotations

from typing import Any

import pytest

from bot.source.folder import SourceFolder
from tests.provenance.engines import wheel_or_skip
from tools.provenance.answer import FlagAnswer
from tools.provenance.explanation import Explanation
from tools.provenance.given import Given
from tools.provenance.tree import Tree

# What a Qwen3.5 checkpoint says of itself, as far as a resolver reads it.
QWEN = {
    "architectures": ["Qwen3_5ForConditionalGeneration"],
    "model_type": "qwen3_5",
    "dtype": "bfloat16",
    "text_config": {
        "model_type": "qwen3_5_text", "hidden_size": 4096, "num_attention_heads": 16,
        "num_key_value_heads": 4, "num_hidden_layers": 32, "head_dim": 256, "vocab_size": 248320,
        "max_position_embeddings": 32768, "layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 8,
    },
    "vision_config": {"model_type": "qwen3_5_vision", "hidden_size": 1152},
}  # fmt: skip
ARGS = "sglang/srt/server_args.py"


def seed(version: str, more: str = "", **facts: Any) -> Explanation:
    tree = Tree(SourceFolder(wheel_or_skip(version)))
    argv = f"--model-path /models/q --speculative-algorithm NEXTN --tp-size 2 {more}".split()
    given = Given.of(gpu="NVIDIA RTX A6000", model_config=QWEN, argv=tuple(argv), **facts)
    return Explanation(tree, given)


def answer(version: str, flag: str, more: str = "") -> FlagAnswer:
    return seed(version, more).one(flag)


def fired(found: FlagAnswer) -> list[tuple[str, int, str | None]]:
    return [(s.file, s.line, s.log) for s in found.sites if s.state == "fired"]


def test_0_5_11_one_silent_line_and_a_log_line_that_is_wrong() -> None:
    found = answer(
        "0.5.11", "disable_piecewise_cuda_graph", "--mamba-scheduler-strategy extra_buffer"
    )
    assert fired(found) == [(ARGS, 1230, None)]
    assert "because --disable-piecewise-cuda-graph is set" in found.sentence
    assert "is wrong." in found.sentence
    assert "EAGLE, NEXTN and MTP never replay" in found.sentence
    assert not [s for s in found.sites if "/speculative/" in s.file]


def test_0_5_11_refuses_a_port_that_leaves_no_room_for_its_grpc_unless_the_server_runs() -> None:
    """Its gRPC port is the HTTP port and 10000; SGLANG_GRPC_PORT, which may not be seen, sets another."""
    flag = "disable_piecewise_cuda_graph"
    more = "--mamba-scheduler-strategy extra_buffer --port 60000"
    wrong = "ValueError: SGLANG_GRPC_PORT (70000) must be between 1 and 65535"
    launch, server = seed("0.5.11", more), seed("0.5.11", more, resolved={flag: True})
    assert launch.one(flag).sentence.startswith(
        f"--disable-piecewise-cuda-graph: cannot tell. Not known here: the launch ends with {wrong}"
    )
    assert fired(server.one(flag)) == [(ARGS, 1230, None)]
    assert server.unseen == [f"why {ARGS}:1048 did not end this launch ({wrong})"]


def test_0_5_10_both_rules_that_fire_are_named() -> None:
    found = answer(
        "0.5.10", "disable_piecewise_cuda_graph", "--mamba-scheduler-strategy extra_buffer"
    )
    assert [line for _, line, _ in fired(found)] == [1090, 1111]


@pytest.mark.parametrize(("version", "entry"), [("0.5.14", 3023), ("0.5.15", 3374)])
def test_a_rule_table_is_named_by_its_entry(version: str, entry: int) -> None:
    found = answer(version, "cuda_graph_config")
    assert (ARGS, entry) in [(file, line) for file, line, _ in fired(found)]
    assert found.resolved["prefill"]["backend"] == "disabled"
    assert 'Known trap: the entry "multimodal model"' in found.sentence


@pytest.mark.parametrize("version", ["0.5.19", "0.5.23"])
def test_since_0_5_19_the_declared_source_is_named(version: str) -> None:
    found = answer(version, "speculative_algorithm")
    assert found.resolved == "EAGLE"
    sources = {site.source for site in found.sites if site.state == "fired"}
    assert sources == {"handle_speculative_decoding"}
    assert answer(version, "cuda_graph_config").resolved["prefill"]["backend"] == "breakable"
