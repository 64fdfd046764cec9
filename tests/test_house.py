"""The rules of the house, kept by tests instead of goodwill."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.engine import Claim
from tools.knowledge import CAUSES
from tools.probe import facts_of
from tools.probes import PROBES
from tools.rules import RULES

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    path for package in ("bot", "tools", "prompts") for path in (ROOT / package).rglob("*.py")
)
TRACKED = subprocess.run(
    ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
).stdout.split()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_holds_one_noun_and_says_which(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 250, "a file that wants to be longer usually holds two nouns"
    caption = ast.get_docstring(ast.parse(text))
    assert caption, "the first line of its docstring is the file's caption"
    assert len(caption.splitlines()[0]) <= 110


def test_light_commands_load_no_heavy_library() -> None:
    script = "import sys, bot.cli, bot.investigate, bot.report, tools.probes, tools.rules; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {
        "langchain",
        "langchain_core",
        "aiohttp",
        "slack_bolt",
        "slack_sdk",
        "dbos",
        "matplotlib",
        "sqlalchemy",
        "paramiko",
        "pynvml",
        "prometheus_client",
        "opentelemetry",
    }
    assert not heavy & {name.split(".")[0] for name in loaded}


def test_help_loads_neither_probes_nor_rules() -> None:
    script = "import sys, bot.cli; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert not [name for name in loaded if name.startswith(("tools.probes", "tools.rules", "yaml"))]


def test_every_kind_of_facts_a_rule_needs_has_a_probe() -> None:
    given = {facts_of(probe) for probe in PROBES.values()} | {Claim}
    wanted = {need.facts for rule in RULES for need in rule.needs}
    assert not {facts.__name__ for facts in wanted - given}


def test_every_kind_of_facts_a_probe_gives_is_used_by_a_rule_or_shown() -> None:
    shown_alone = {"EngineSource", "SourceTexts", "LogMatches", "Launcher"}
    wanted = {need.facts.__name__ for rule in RULES for need in rule.needs}
    assert not {facts_of(probe).__name__ for probe in PROBES.values()} - wanted - shown_alone


def test_there_are_at_least_twenty_rules_and_each_has_a_cause() -> None:
    assert len(RULES) >= 20
    assert {rule.cause.id for rule in RULES} <= set(CAUSES)
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_no_tracked_text_names_a_machine_or_a_registry() -> None:
    forbidden = re.compile(
        r"index-url|find-links|https?://[^ ]+/simple/?|https?://registry\.|pypi\.org|files\.pythonhosted"
    )
    for name in TRACKED:
        path = ROOT / name
        if path == Path(__file__) or not path.is_file() or path.suffix in (".gz", ".out"):
            continue
        assert not forbidden.search(path.read_text(encoding="utf-8", errors="replace")), name


def test_the_project_stands_alone() -> None:
    for name in TRACKED:
        path = ROOT / name
        if (
            path.is_file()
            and path.suffix in (".py", ".md", ".toml", ".yaml", ".yml", "")
            and path != Path(__file__)
        ):
            assert "../shared" not in path.read_text(encoding="utf-8", errors="replace"), name
