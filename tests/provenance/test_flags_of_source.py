"""Flags from source, of our engines, and the commands that tell them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli import app
from bot.source.folder import SourceFolder
from tests.provenance.engines import declared, direct, only
from tools.errors import Absent
from tools.provenance.flags import flags_of


def test_hand_written_flags_have_their_defaults_choices_help_and_age() -> None:
    flags = {flag.dest: flag for flag in flags_of(direct())}
    assert flags["tensor_parallel_size"].names == ("--tensor-parallel-size", "--tp-size")
    assert flags["attention_backend"].choices == ("fa3", "flashinfer")
    assert flags["mem_fraction"].default == 0.9
    assert flags["disable_graph"].default is False
    assert [flag.names for flag in flags_of(direct()) if flag.deprecated] == [("--lora",)]


def test_derived_flags_follow_the_annotations_of_the_fields() -> None:
    flags = {flag.dest: flag for flag in flags_of(declared())}
    assert flags["model_path"].names == ("--model-path", "--model")
    assert flags["dtype"].choices == ("auto", "half")
    assert flags["swa_ratio"].help == "A share."
    assert "inner" not in flags


def test_the_commands_answer_from_a_folder(tmp_path: Path) -> None:
    for name, text in direct().texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    run = CliRunner().invoke
    listed = run(app, ["flags", "--source", str(tmp_path), "--search", "graph", "--json"])
    names = [flag["names"] for flag in json.loads(listed.stdout)["flags"]]
    assert names == [["--disable-graph"], ["--enforce-graph"]]
    config = tmp_path / "config.json"
    config.write_text('{"architectures": ["LlamaForCausalLM"], "model_type": "llama"}')
    base = [
        "--source",
        str(tmp_path),
        "--gpu",
        "NVIDIA L4",
        "--model-config",
        str(config),
        "--json",
    ]
    one = run(app, ["explain-flag", "--page-size", *base, "--argv", "--model-path /m"])
    assert one.exit_code == 2, "a flag is named without dashes, or after --"
    one = run(app, ["explain-flag", "schedule", *base, "--argv", "--model-path /m"])
    answer = json.loads(one.stdout)
    assert set(answer) == {"flag", "asked", "resolved", "overridden", "sites", "sentence"}
    assert set(answer["sites"][0]) == {"file", "line", "source", "state", "condition", "log"}
    every = run(app, ["explain-flag", "--all", *base, "--argv", "--model-path /m"])
    assert "schedule" in [row["flag"] for row in json.loads(every.stdout)["flags"]]


def test_a_folder_without_the_engine_says_what_to_name(tmp_path: Path) -> None:
    with pytest.raises(Absent, match="site-packages"):
        SourceFolder(tmp_path)


def test_a_source_whose_flags_cannot_be_followed_is_told_as_absent() -> None:
    with pytest.raises(Absent, match="the flags of this source cannot be read: AttributeError"):
        flags_of(only("pass"))
