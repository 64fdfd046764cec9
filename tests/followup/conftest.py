"""The shipped cases, concluded, for every test of a follow-up."""

from __future__ import annotations

from functools import cache

import pytest

from bot.demo import shipped
from bot.investigate import Judged, conclude
from bot.question import Question
from tools.probes import PROBES


@cache
def _judged(name: str) -> tuple[Question, Judged]:
    case = shipped(name)
    question = Question.of(case.question, [case.host or ""])
    return question, conclude(question, case.evidence(PROBES))


@pytest.fixture
def question() -> Question:
    return _judged("ct129")[0]


@pytest.fixture
def sick() -> Judged:
    return _judged("ct129")[1]


@pytest.fixture
def sourceless(question: Question, sick: Judged) -> Judged:
    """The same without the engine's source."""
    kept = [one for one in sick.evidence if one.probe and one.title != "ReadSourceTexts"]
    return conclude(question, kept)


@pytest.fixture
def well() -> Judged:
    return _judged("ct130")[1]
