"""Every prompt renders as its golden file says, so that no word changes unseen. `--update-golden` writes them."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from string import Template

import pytest

import prompts

GOLDEN = Path(__file__).parent / "golden"
WORDS = Path(prompts.__file__).parent


def fields(name: str) -> dict[str, str]:
    text = (WORDS / f"{name}.md").read_text(encoding="utf-8")
    return {one: f"({one})" for one in Template(text).get_identifiers()}


@pytest.mark.parametrize("name", prompts.names())
def test_a_prompt_renders_as_its_golden_file(name: str, request: pytest.FixtureRequest) -> None:
    rendered = prompts.load(name, **fields(name)) + "\n"
    golden = GOLDEN / f"{name}.txt"
    if request.config.getoption("--update-golden"):
        golden.write_text(rendered, encoding="utf-8")
    assert rendered == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", prompts.names())
def test_a_prompt_is_words_and_holds_no_name_of_a_host_and_no_figure_of_a_case(name: str) -> None:
    text = prompts.load(name, **fields(name))
    assert len(text) < 6000
    assert not re.search(r"CT1\d\d|tok/s \d|\d+(?:\.\d+)? tok/s", text)


def test_a_field_without_a_value_and_a_value_without_a_field_are_faults() -> None:
    known = fields("planner")
    with pytest.raises(KeyError):
        prompts.load("planner", **{name: known[name] for name in list(known)[1:]})
    with pytest.raises(ValueError, match="no field host"):
        prompts.load("planner", **known, host="CT129")


def test_what_fills_a_field_is_never_read_as_a_field_itself() -> None:
    known = {**fields("planner"), "boundary": "$turns ${calls} $$"}
    assert "<<$turns ${calls} $$ and" in prompts.load("planner", **known)


def test_a_version_follows_the_words() -> None:
    text = (WORDS / "planner.md").read_bytes()
    assert prompts.version("planner") == hashlib.sha256(text).hexdigest()[:8]


def test_golden_files_are_of_prompts_that_exist() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(prompts.names())
