"""A verdict does not hang on a file's name, its place among others, or on what a collector put around its lines."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from bot.investigate import conclude
from bot.question import Question
from tests.scenarios.wrapping import WRAPS, shuffled
from tools.evidence import read_back
from tools.hosts.files import read_texts
from tools.linux.wrappers import unwrap
from tools.probes import PROBES
from tools.probes.server_log import ReadServerLog

DEV = sorted(path.parent for path in (Path(__file__).parent / "dev").glob("*/expected.json"))
Texts = list[tuple[str, bytes]]


@cache
def texts_of(case: Path) -> tuple[tuple[str, bytes], ...]:
    return tuple((path.name, path.read_bytes()) for path in sorted((case / "evidence").iterdir()))


def judged(case: Path, texts: Texts) -> tuple[str, str | None]:
    question = Question.of((case / "question.txt").read_text(encoding="utf-8").strip())
    looks = [
        read_back(number, found.probe, found.source, found.output, found.trouble)
        for number, found in enumerate(read_texts(texts, PROBES), start=1)
    ]
    verdict = conclude(question, looks).verdict
    return verdict.category, verdict.cause


@cache
def judged_as_given(case: Path) -> tuple[str, str | None]:
    return judged(case, list(texts_of(case)))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_names_and_order_of_the_files_change_no_verdict(seed: int) -> None:
    changed = [
        case.name
        for case in DEV
        if judged(case, shuffled(list(texts_of(case)), seed)) != judged_as_given(case)
    ]
    assert changed == []


@pytest.mark.parametrize("name", WRAPS)
def test_a_wrapper_around_the_serve_log_changes_no_verdict(name: str) -> None:
    changed, wrapped = [], 0
    for case in DEV:
        given = []
        for title, data in texts_of(case):
            text = _log(data)
            wrapped += text is not None
            given.append((title, data if text is None else WRAPS[name](text).encode()))
        if judged(case, given) != judged_as_given(case):
            changed.append(f"{case.name}: {judged(case, given)}, not {judged_as_given(case)}")
    assert wrapped > 30
    assert changed == []


def _log(data: bytes) -> str | None:
    """Return the bare lines of a serve log; None for any other file."""
    if data.startswith(b"\x1f\x8b"):
        return None
    text = unwrap(data.decode("utf-8", "replace"))
    return text if ReadServerLog().recognises(text) else None
