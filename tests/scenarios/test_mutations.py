"""The decisive line is what decides: without it, or turned round, the verdict is another or none.

`mutations.yaml` says what is done to a case and what an expert would then say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.investigate import conclude
from bot.question import Question
from tests.scenarios.test_more_cases import concluded
from tools.evidence import read_back
from tools.hosts.files import read_texts
from tools.probes import PROBES
from tools.verdict import Verdict

FOLDER = Path(__file__).parent
MUTATIONS: list[dict[str, Any]] = yaml.safe_load(
    (FOLDER / "mutations.yaml").read_text(encoding="utf-8")
)
Texts = dict[str, str]


def evidence(case: Path) -> Texts:
    files = sorted((case / "evidence").iterdir())
    return {path.name: path.read_text(encoding="utf-8") for path in files}


def edited(texts: Texts, edit: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Return the texts after one edit, which must change at least one of them."""
    matched = 0
    for name, text in texts.items():
        if not fnmatch(name, edit["file"]):
            yield name, text
        elif edit.get("remove"):
            matched += 1
        else:
            new, times = _changed(text, edit)
            matched += times
            yield name, new
    assert matched, f"this edit matches nothing: {edit}"


def _changed(text: str, edit: dict[str, Any]) -> tuple[str, int]:
    if "drop" in edit:
        lines = text.splitlines(keepends=True)
        kept = [line for line in lines if not re.search(edit["drop"], line)]
        return "".join(kept), len(lines) - len(kept)
    return re.subn(edit["replace"], edit["with"], text, flags=re.MULTILINE)


@cache
def judged(number: int) -> Verdict:
    """Judge a case after a mutation, in this process."""
    mutation = MUTATIONS[number]
    case = FOLDER / "dev" / mutation["case"]
    texts = evidence(case)
    for edit in mutation["edits"]:
        texts = dict(edited(texts, edit))
    given = [(name, text.encode()) for name, text in texts.items()]
    looks = [
        read_back(number, found.probe, found.source, found.output, found.trouble)
        for number, found in enumerate(read_texts(given, PROBES), start=1)
    ]
    question = (case / "question.txt").read_text(encoding="utf-8").strip()
    return conclude(Question.of(question), looks).verdict


def _names() -> list[str]:
    return [f"{one['case']}: {one['name']}" for one in MUTATIONS]


def test_there_are_many_of_many_cases() -> None:
    assert len(MUTATIONS) >= 60
    assert len({one["case"] for one in MUTATIONS}) >= 45
    assert len(set(_names())) == len(MUTATIONS)
    assert all(one["why"] for one in MUTATIONS)


@pytest.mark.parametrize("number", range(len(MUTATIONS)), ids=_names())
def test_without_the_decisive_line_the_verdict_is_the_right_other_one_or_none(number: int) -> None:
    mutation, verdict = MUTATIONS[number], judged(number)
    before = concluded(FOLDER / "dev" / mutation["case"]).verdict
    assert (verdict.category, verdict.cause) != (before.category, before.cause), verdict.headline
    assert verdict.category in mutation["category"], verdict.headline
    if "cause" in mutation:
        assert verdict.cause in mutation["cause"], verdict.headline


@pytest.mark.parametrize("number", range(len(MUTATIONS)), ids=_names())
def test_the_cause_without_its_line_is_asserted_by_no_rule(number: int) -> None:
    mutation, verdict = MUTATIONS[number], judged(number)
    asserted = {one.rule.cause.id: one for one in (*verdict.findings, *verdict.asides)}
    still = [asserted[cause].finding.statement for cause in mutation["gone"] if cause in asserted]
    assert not still
    open_or_out = {one.rule.cause.id for one in (*verdict.unchecked, *verdict.ruled_out)}
    assert set(mutation["gone"]) <= open_or_out


def test_an_edit_that_matches_nothing_is_refused() -> None:
    with pytest.raises(AssertionError, match="matches nothing"):
        list(edited({"a.txt": "b\n"}, {"file": "a.txt", "drop": "c"}))
