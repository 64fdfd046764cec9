"""What docker itself made of our words, recorded: the container made anew is like the old one, or it is said what differs."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.change.engine import on_host

RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.json"))
HOST = on_host("docker_flags", "docker_diff")
WORDS = ["--b", "2"]  # were put at the end when it was recorded


def told(path: Path) -> tuple[dict[str, Any], dict[str, Any], list[str], list[str], dict[str, Any]]:
    read = json.loads(path.read_text())
    words = HOST["command_of"](read["old"]) + WORDS
    return read["old"], read["new"], words, HOST["env_lines"](read["old"], {"X": "1"}, []), read


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_the_words_are_those_of_which_docker_made_the_same_container(path: Path) -> None:
    old, new, words, env, read = told(path)
    assert HOST["create_words"](old, read["image"], "t-new", words, "sg:1") == read["created_with"]
    assert HOST["differences"](old, new, words, env) == []


@pytest.mark.parametrize(
    ("where", "name", "value"),
    [
        ("HostConfig", "ShmSize", 1), ("HostConfig", "DeviceRequests", None), ("HostConfig", "SecurityOpt", []),
        ("HostConfig", "MemorySwappiness", None), ("HostConfig", "SomethingOfALaterDocker", True), ("Config", "User", "7"),
        ("Config", "Labels", {}),
    ],
)  # fmt: skip
def test_whatever_differs_is_named(where: str, name: str, value: Any) -> None:
    old, new, words, env, _ = told(next(path for path in RECORDED if path.stem == "everything"))
    other = copy.deepcopy(new)
    other[where][name] = value
    assert HOST["differences"](old, other, words, env) == [f"{where}.{name}"]


def test_a_mount_a_variable_or_a_word_that_differs_is_named_without_its_value() -> None:
    old, new, words, env, _ = told(next(path for path in RECORDED if path.stem == "everything"))
    fewer = {**new, "Mounts": new["Mounts"][1:]}
    assert HOST["differences"](old, fewer, words, env) == ["Mounts"]
    assert HOST["differences"](old, new, words, [*env, "HF_TOKEN=hf_secret"]) == ["the variables"]
    assert HOST["differences"](old, new, [*words, "--api-key", "s"], env) == ["the command"]


def test_no_variable_is_a_word_of_the_command() -> None:
    old, _, words, _, read = told(RECORDED[0])
    old["Config"]["Env"] = ["HF_TOKEN=hf_secret"]
    assert "hf_secret" not in " ".join(HOST["create_words"](old, read["image"], "x", words, "sg:1"))
    assert HOST["env_lines"](old, {"A": "1"}, []) == ["HF_TOKEN=hf_secret", "A=1"]
    assert HOST["env_lines"](old, {}, ["HF_TOKEN"]) == []
