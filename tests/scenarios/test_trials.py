"""Notes of tests as people type them: what they prove, and what they exclude, without any other look."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.investigate import conclude
from bot.question import Question
from tools.evidence import read_back
from tools.hosts.files import read_texts
from tools.probes import PROBES
from tools.verdict import Verdict

FOLDER = Path(__file__).parent
NOTES: list[dict[str, Any]] = [
    note
    for name in ("trials.yaml", "trials_more.yaml", "trials_third.yaml")
    if (FOLDER / name).exists()
    for note in yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
]


def judged(note: dict[str, Any]) -> Verdict:
    looks = [
        read_back(number, found.probe, "note", found.output, found.trouble)
        for number, found in enumerate(
            read_texts([("note", note["note"].encode())], PROBES), start=1
        )
    ]
    return conclude(Question.of(note["question"]), looks).verdict


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note["name"])
def test_a_note_proves_what_it_shows(note: dict[str, Any]) -> None:
    verdict = judged(note)
    assert verdict.category == note["category"], verdict.headline
    assert verdict.cause in (note["cause"] or [None])
    assert not {verdict.cause, verdict.category} & set(note.get("not", []))
    out = {one.rule.cause.id for one in verdict.ruled_out}
    assert not set(note.get("out", [])) - out
