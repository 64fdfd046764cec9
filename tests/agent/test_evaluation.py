"""Evaluation with a model: scripted voices, a real endpoint; `make soak` has every case, and the page that tells it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import prompts
from bot.evaluate import evaluate
from tests.agent.scripted import Scripted, lying, retelling
from tests.agent.voiced import changes_no_verdict, is_believed, is_caught
from tests.agent.voices import SOME
from tests.fakes.models import FakeModel, calls

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "tests" / "scenarios"


def some(place: Path) -> Path:
    """Return a folder with cases of ten kinds of fault."""
    for folder in SOME[::3]:
        (place / folder.name).symlink_to(folder)
    return place


def test_who_retells_is_believed_and_changes_no_verdict(tmp_path: Path) -> None:
    made = evaluate(some(tmp_path), lambda: Scripted(retelling))
    changes_no_verdict(made)
    is_believed(made)


def test_who_lies_is_caught_and_changes_no_verdict(tmp_path: Path) -> None:
    made = evaluate(some(tmp_path), lambda: Scripted(lying))
    changes_no_verdict(made)
    is_caught(made)


def test_a_configured_endpoint_is_evaluated_over_real_http(tmp_path: Path) -> None:
    folder = tmp_path / "cases"
    for name in ("xid-01-hbm-failing", "shm-01-64mb-default"):
        shutil.copytree(SCENARIOS / "dev" / name, folder / name)
    script = [
        calls(("excerpt", {"look": "E1"})),
        calls(("finish", {})),
        "GPU 57 draws 1,234 W [E1].",
    ]
    with FakeModel(lambda asked: script[asked.number % 3]) as model:
        hosts = tmp_path / "hosts.toml"
        hosts.write_text(
            f'[[models]]\nname = "openai:fake"\nbase_url = "{model.base_url}"\n'
            "usd_per_m_in = 1.0\nusd_per_m_out = 2.0\n"
        )
        done = subprocess.run(
            [sys.executable, "-P", "-m", "bot", "eval", str(folder), "--agent", "--json"],
            cwd=ROOT,
            env={**os.environ, "PERFSLEUTH_HOSTS": str(hosts), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    sums = told["ways"]["agent"]["summary"]
    assert told["turned_wrong"] == []
    assert (sums["cases"], sums["turns"], sums["kept"]) == (2, 6, 0)
    assert sums["dropped"] == 2
    assert sums["tokens_in"] > 0
    assert sums["usd"] > 0
    assert told["prompts"] == {name: prompts.version(name) for name in prompts.names()}
    assert not [text for asked in model.asked for text in [asked.text] if "xid-01" in text]


def test_the_page_was_measured_with_the_prompts_of_today() -> None:
    page = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    for name in prompts.names():
        assert f"| prompts/{name}.md | {prompts.version(name)} |" in page, "run `make eval`"
