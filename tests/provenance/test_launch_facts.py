"""What is known of a launch: the file of --config, what the server says of itself, and what the log has instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli import app
from bot.source.known import known_of
from tests.provenance.engines import direct, explained, only, wheel_or_skip
from tests.provenance.hosts import small, write
from tools.errors import Absent
from tools.evidence import Evidence, learn
from tools.host import Output
from tools.probe import Probe
from tools.probes import PROBES
from tools.provenance.config_file import merged
from tools.provenance.tree import Tree
from tools.sglang.endpoints import arguments_in_effect

ARGV = ["python3", "-m", "sglang.launch_server", "--model-path", "/m"]


def seen(name: str, answer: Any) -> Evidence:
    probe: Probe[Any] = PROBES[name]()
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return learn(1, probe, "lab", Output(stdout=text))


def launched(*more: str, **told: Any) -> Evidence:
    return seen("ReadLaunch", {"argv": [*ARGV, *more], "engine": "sglang", **told})


def test_a_config_file_is_put_before_the_command_line_which_wins() -> None:
    argv = ("serve", "--page-size", "16", "--config", "x.yaml", "--schedule", "lpm")
    config = {"page-size": 64, "enable-lora": True, "disable-graph": False, "watchdog": 90}
    assert merged(argv, config, direct()) == (
        "serve", "--page-size", "64", "--enable-lora", "--watchdog", "90",
        "--page-size", "16", "--schedule", "lpm",
    )  # fmt: skip


@pytest.mark.parametrize("config", [
    {"tp-size": 2, "page-size": 64, "trust-remote-code": True, "disable-radix-cache": False},
    {"cuda-graph-bs": [1, 2, 4], "served-model-name": "it", "enable-metrics": True},
    {"json-model-override-args": "{}", "log-level": "info", "mem-fraction-static": 0.8},
])  # fmt: skip
@pytest.mark.parametrize("version", ["0.5.11", "0.5.23"])
def test_a_config_file_is_merged_as_the_engines_own_code_does(
    version: str, config: dict[str, Any], tmp_path: Path
) -> None:
    """The merger of the real version is executed; it needs argparse and yaml alone."""
    import argparse

    wheel = wheel_or_skip(version)
    (own,) = wheel.glob("sglang/srt/**/server_args_config_parser.py")
    space: dict[str, Any] = {"__name__": "merger"}
    exec(compile(own.read_text(), str(own), "exec"), space)
    from bot.source.folder import SourceFolder
    from tools.provenance.resolver import declared_flags

    tree, parser = Tree(SourceFolder(wheel)), argparse.ArgumentParser()
    for flag in declared_flags(tree):
        switch = flag.keywords.get("action") == "store_true"
        parser.add_argument(*flag.names, dest=flag.dest, action="store_true" if switch else "store")
    file = tmp_path / "launch.yaml"
    file.write_text(json.dumps(config))
    argv = ["--model-path", "/m", "--config", str(file), "--page-size", "16"]
    theirs = space["ConfigArgumentMerger"](parser).merge_config_with_args(argv)
    assert list(merged(tuple(argv), config, tree)) == theirs


def test_two_config_files_are_refused_as_the_engine_does() -> None:
    with pytest.raises(Absent, match="takes one"):
        merged(("--config", "a.yaml", "--config", "b.yaml"), {}, direct())


def test_a_config_file_goes_with_a_folder_too(tmp_path: Path) -> None:
    site, config = write(tmp_path / "site", small()), tmp_path / "launch.yaml"
    config.write_text("page-size: 64\n")
    words = ["explain-flag", "page_size", "--source", str(site), "--config", str(config), "--json"]
    assert json.loads(CliRunner().invoke(app, words).stdout)["asked"] == 64
    wrong = CliRunner().invoke(app, [*words[:5], str(tmp_path / "launch.json")])
    assert "takes .yaml and .yml alone" in str(wrong.exception)
    config.write_text("a: [")
    assert "is no YAML" in str(CliRunner().invoke(app, words).exception)


def test_arguments_in_effect_keep_their_shape_and_drop_what_may_be_secret() -> None:
    told = {
        "model_path": "/m", "cuda_graph_bs": [1, 2], "api_key": "hunter2", "page_size": 1,
        "max_total_num_tokens": 5,
        "internal_states": [{"page_size": 64, "tp_size": 2}, {"page_size": 64, "tp_size": 3}],
    }  # fmt: skip
    found = arguments_in_effect(json.dumps(told))
    assert found == {"model_path": "/m", "cuda_graph_bs": [1, 2], "page_size": 64}


def test_without_an_answer_of_the_server_its_log_tells_what_it_began_with() -> None:
    log = (
        "[2026-01-01 10:00:00] server_args=ServerArgs(model_path='/m', page_size=64, tp_size=2, "
        "cuda_graph_bs=[1, 2], api_key='hunter2')\n[2026-01-01 10:00:01] Load weight begin. avail mem=1 GB\n"
    )
    known = known_of([launched(), seen("ReadServerLog", log)])
    assert known.given.resolved is not None
    assert known.given.resolved["page_size"] == 64
    assert {"api_key", "cuda_graph_bs"}.isdisjoint(known.given.resolved)


def test_gpus_that_the_server_may_not_see_are_not_counted() -> None:
    sample = "NVIDIA RTX A6000, {}, 49140 MiB, 8.6"
    head = "name, index, memory.total [MiB], compute_cap\n"
    gpus = seen("ReadGpus", head + "\n".join(sample.format(n) for n in range(4)) + "\n")
    assert gpus.facts is not None, gpus.trouble
    hidden = seen("ReadEnvironment", {"values": {"CUDA_VISIBLE_DEVICES": "2,3"}, "dropped": 1})
    given = known_of([launched(), gpus, hidden]).given
    assert (given.gpus, given.capability, given.memory_mib) == (2, (8, 6), 49140)
    assert given.gpu == "NVIDIA RTX A6000"
    assert known_of([launched(), gpus]).given.gpus == 4


def test_a_condition_on_the_drivers_version_is_answered_by_what_the_gpus_look_tells() -> None:
    tree = only(
        "import subprocess\nwords = ['nvidia-smi', '--query-gpu=driver_version', '--format=csv']\n"
        "told = subprocess.run(words, capture_output=True, text=True).stdout.strip().split('\\n')[0]\n"
        "if tuple(int(part) for part in told.split('.')) < (595,):\n    self.a = 2"
    )
    older = explained(tree, driver="580.65.06", gpus=2).one("a")
    assert ([site.state for site in older.sites], older.resolved) == (["fired"], 2)
    assert explained(tree, driver="595.58.03").one("a").overridden is False
    assert explained(tree).one("a").overridden is None


def test_a_server_that_shows_no_command_line_is_not_taken_for_one_without_flags() -> None:
    titled = seen("ReadLaunch", {"argv": ["sglang::http_server"], "engine": "sglang"})
    with pytest.raises(Absent, match="does not show the command line"):
        known_of([titled])
    with pytest.raises(Absent, match="how the server was started is not known"):
        known_of([seen("ReadLaunch", {"absent": "no model server is running here"})])


def test_what_was_not_seen_is_said_with_its_reason() -> None:
    config = {"file": "/etc/launch.yaml", "trouble": "not readable"}
    model = seen("ReadModelConfig", {"absent": "no config.json of /m can be read here"})
    known = known_of([launched("--config", "/etc/launch.yaml", config=config), model])
    assert "the model's config.json (no config.json of /m can be read here)" in known.missing
    assert "the file of --config, /etc/launch.yaml (it cannot be read there)" in known.missing
    assert known.on(direct()).argv == tuple(ARGV)
