"""Free questions, as engineers write them, are understood without a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.desk.thread import WHICH, Thread
from bot.desk.wish import Wish, wish
from bot.followup.suspect import suspects
from bot.message import Message
from bot.question import Question
from bot.store import Run

_ALL: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("free_questions.yaml").read_text(encoding="utf-8")
)
HOSTS: tuple[str, ...] = tuple(str(name) for name in _ALL.pop("hosts"))
FLEET: tuple[str, ...] = tuple(str(name) for name in _ALL.pop("fleet"))
SETS: dict[str, list[dict[str, Any]]] = _ALL
ASKED = [case for cases in SETS.values() for case in cases]
_BEFORE = "why is it slow? it does 55 tok/s, it was 70"
_SAME = {"hello": "help"}  # both are answered with what can be asked


def _thread(where: str) -> Thread:
    if where == "new":
        return Thread()
    ended = where != "looking"
    return Thread(
        (
            Run(
                1, "C/1", "host", "done" if ended else "running",
                None if where == "which" else "CT129", None, "C", "1", "U", _BEFORE, "", 0.0,
                category="hardware" if where == "verdict" else None,
                headline=WHICH if where == "which" else "The link is slow.",
            ),
        )
    )  # fmt: skip


def understood(case: dict[str, Any]) -> tuple[Wish, Question]:
    """Return what is wanted, and the question as the worker will read it."""
    message = Message(channel="C", ts="2", thread="1", user="U", text=case["say"])
    hosts = FLEET if case.get("fleet") else HOSTS
    meant = wish(message, _thread(case.get("in", "new")), hosts)
    return meant, Question.of(meant.text, hosts)


def wrong_intent(case: dict[str, Any]) -> str:
    """Say what is wrong with host or intent; empty where they are right."""
    meant, _ = understood(case)
    act = _SAME.get(meant.act, meant.act)
    if act == "followup" and meant.intent:
        act += f"/{meant.intent.kind}"
    if act != case["act"]:
        return f"{case['say']!r} is {act} {meant.hosts}, not {case['act']}"
    if meant.hosts != tuple(str(name) for name in case.get("hosts", ())):
        return f"{case['say']!r} is about {meant.hosts}"
    return ""


def wrong_details(case: dict[str, Any]) -> list[str]:
    """Say which of port, rates, aspects and suspects are wrong."""
    if case["act"] not in ("look", "which", "unknown") and "suspects" not in case:
        return []
    meant, question = understood(case)
    told = {
        "port": meant.port,
        "now": question.now_tok_s,
        "before": question.before_tok_s,
        "in_parallel": question.in_parallel,
        "for_each": question.for_each or None,
    }
    wrong = [f"{name}: {value}" for name, value in told.items() if value != case.get(name)]
    if "aspects" in case and question.interest.aspects != set(case["aspects"]):
        wrong.append(f"aspects: {sorted(question.interest.aspects)}")
    if not set(case.get("suspects", ())) <= suspects(meant.text):
        wrong.append(f"suspects: {sorted(suspects(meant.text))}")
    return wrong and [f"{case['say']!r}: {', '.join(wrong)}"]


@pytest.mark.parametrize("case", ASKED, ids=lambda case: f"{case.get('in', 'new')}: {case['say']}")
def test_host_and_intent_of_a_free_question(case: dict[str, Any]) -> None:
    assert not wrong_intent({**case, "act": case.get("yet", case["act"])})


@pytest.mark.parametrize("case", ASKED, ids=lambda case: f"{case.get('in', 'new')}: {case['say']}")
def test_port_rates_and_topics_of_a_free_question(case: dict[str, Any]) -> None:
    assert not wrong_details(case)


def test_there_are_as_many_as_promised_and_nearly_all_are_understood() -> None:
    assert len({case["say"] for case in ASKED}) >= 160
    right = sum(not wrong_intent(case) for case in ASKED)
    assert right >= 0.95 * len(ASKED)


def _score() -> None:
    """Print the accuracy of each set; `python -m tests.bot.test_free_questions` is for who tunes."""
    for name, cases in SETS.items():
        wrong = [why for case in cases if (why := wrong_intent(case))]
        details = [why for case in cases for why in wrong_details(case)]
        print(f"{name}: {len(cases)}, host+intent wrong {len(wrong)}, details wrong {len(details)}")
        print(*wrong, *details, sep="\n")


if __name__ == "__main__":
    _score()
