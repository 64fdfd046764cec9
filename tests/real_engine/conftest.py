"""The engine's environment, made once and kept; two servers on it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_engine.engine import ATTENTION, DRAFTS, RealEngine

HERE = Path(__file__).parent
KEY = "engine-key-that-nobody-may-see"


@pytest.fixture(scope="session")
def venv() -> Path:
    if told := os.environ.get("ENGINE_VENV"):
        return Path(told)
    recipe = hashlib.sha256((HERE / "install.py").read_bytes()).hexdigest()[:8]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "perfsleuth" / f"engine-{recipe}"
    if not (folder / ".complete").exists():
        done = subprocess.run(
            [sys.executable, HERE / "install.py", folder],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 3:
            pytest.skip(done.stderr.strip())
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def model(venv: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    subprocess.run(
        [venv / "bin/python", HERE / "tiny_model.py", folder], check=True, capture_output=True
    )
    return folder


@pytest.fixture(scope="module")
def engine(
    venv: Path, model: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealEngine]:
    """A plain server that wants a key."""
    made = RealEngine(venv, model, tmp_path_factory.mktemp("engine"), key=KEY)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def drafting(
    venv: Path, model: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealEngine]:
    """A server that speculates, with the model as its own draft."""
    flags = (*ATTENTION, *DRAFTS, "--speculative-draft-model-path", str(model))
    made = RealEngine(venv, model, tmp_path_factory.mktemp("drafting"), *flags)
    yield made
    made.stop()
