"""Two small engines of our own writing, and real ones from their wheels where they can be had."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import pytest

from tools.provenance.explanation import Explanation
from tools.provenance.given import Given
from tools.provenance.tree import Tree

HERE = Path(__file__).parent / "engine"
METADATA = "Metadata-Version: 2.4\nName: sglang\nVersion: 9.9\nRequires-Dist: torch==2.9.1\nRequires-Dist: transformers\n"
VISION = {"architectures": ["Qwen3_5ForConditionalGeneration"], "model_type": "qwen3_5"}
TEXT = {"architectures": ["LlamaForCausalLM"], "model_type": "llama"}


def source(name: str) -> str:
    return (HERE / f"{name}.source").read_text(encoding="utf-8")


def direct(**more: str) -> Tree:
    """An engine that assigns where it decides."""
    return Tree(
        {
            "sglang/srt/server_args.py": source("direct"),
            "sglang/srt/rules.py": source("rules"),
            "sglang/srt/model_executor/runner.py": source("runner"),
            "sglang-9.9.dist-info/METADATA": METADATA,
            **more,
        }
    )


def declared(**more: str) -> Tree:
    """An engine that declares what it decides."""
    return Tree(
        {
            "sglang/srt/server_args.py": source("declared"),
            "sglang/srt/arg_groups/declare.py": source("declare"),
            "sglang/srt/arg_groups/model_rules.py": source("model_rules"),
            "sglang/srt/environ.py": source("environ"),
            "sglang-9.9.dist-info/METADATA": METADATA,
            **more,
        }
    )


def only(text: str) -> Tree:
    """An engine whose resolver is the body of one __post_init__ over the fields a, b and c."""
    body = "\n".join(f"        {line}" for line in text.splitlines())
    return Tree(
        {
            "sglang/srt/server_args.py": "import argparse, dataclasses, json, os, re, torch, unheard_of\n"
            "@dataclasses.dataclass\nclass ServerArgs:\n    model_path: str\n    a: int = 1\n"
            f"    b: str = None\n    c: bool = False\n    def __post_init__(self):\n{body}\n"
            "def prepare_server_args(argv):\n    parser = argparse.ArgumentParser()\n"
            "    for name in ('model-path', 'a', 'b', 'c'):\n        parser.add_argument('--' + name)\n"
            "    args = parser.parse_args(argv)\n"
            "    return ServerArgs(args.model_path, int(args.a or 1), args.b, args.c == 'on')\n"
        }
    )


def explained(tree: Tree, argv: str = "", **facts: Any) -> Explanation:
    return Explanation(tree, Given.of(argv=("--model-path", "/m", *argv.split()), **facts))


def lines(tree: Tree, path: str, text: str) -> int:
    """Return the line of the only place where a text stands."""
    found = [n for n, line in enumerate(tree.text(path).splitlines(), 1) if text in line]
    assert len(found) == 1, found
    return found[0]


@cache
def wheel(version: str) -> Path | None:
    """Return the folder of a version's unpacked wheel; None where it cannot be fetched.

    It is unpacked aside and moved there whole: another test process may be doing the same.
    """
    around = Path(os.environ.get("PERFSLEUTH_WHEELS", gettempdir()))
    folder = around / f"sglang-{version}"
    if (folder / "sglang").is_dir():
        return folder
    around.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="sglang-", dir=around) as aside:
        fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:"]
        platform = ["--python-version", "3.12", "--platform", "manylinux_2_34_x86_64"]
        command = [*fetch, *platform, "-d", aside, f"sglang=={version}"]
        done = subprocess.run(command, capture_output=True, timeout=300, check=False)
        wheels = list(Path(aside).glob("sglang-*.whl"))
        if done.returncode or not wheels:
            return None
        unpacked = Path(aside) / "unpacked"
        with zipfile.ZipFile(wheels[0]) as archive:
            names = [n for n in archive.namelist() if n.endswith((".py", "METADATA"))]
            archive.extractall(unpacked, names)
        try:
            unpacked.rename(folder)
        except OSError:
            if not (folder / "sglang").is_dir():
                raise
    return folder


def wheel_or_skip(version: str) -> Path:
    folder = wheel(version)
    if folder is None:
        pytest.skip(f"the wheel of sglang {version} cannot be fetched here")
    return folder
