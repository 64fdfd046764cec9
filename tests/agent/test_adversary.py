"""A model that lies: no right verdict turns wrong, no false figure gets into the text; `make soak` tries every case."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from bot.agent.checking.grounds import Grounds
from bot.agent.prose import explain
from bot.narrator import verdict as story
from bot.report import report
from tests.agent.adversary import Liar, changes_no_verdict, enough_is_kept, lies_that_pass
from tests.agent.voices import CASES, SOME, Claim, honest, judged, lies


@pytest.mark.parametrize("folder", SOME, ids=lambda folder: folder.name)
def test_a_lying_planner_changes_no_verdict(folder: Path) -> None:
    changes_no_verdict(folder)


@pytest.mark.parametrize("folder", SOME, ids=lambda folder: folder.name)
def test_no_lie_gets_into_the_text(folder: Path) -> None:
    assert lies_that_pass(folder) == []


def test_nine_of_ten_honest_sentences_stay() -> None:
    enough_is_kept(CASES[::3], 300)


@pytest.mark.parametrize("folder", SOME[::3], ids=lambda folder: folder.name)
def test_what_is_shown_and_printed_with_a_liar_is_what_is_shown_without(folder: Path) -> None:
    question, end = judged(folder)
    mouth = " ".join(one.written for one in itertools.islice(lies(question, end), 0, 400, 9))
    made = explain(Liar(mouth), question, end)
    assert made.lines == ()
    assert len(made.dropped) > 2
    assert "plain text stands" in made.remarks[0]
    plain = list(story(end.verdict, question.interest))
    with_liar = list(story(end.verdict, question.interest, made))
    assert [one for one in with_liar if one not in plain] == [
        one for one in with_liar if getattr(one, "text", "") in made.remarks
    ]
    before = report(None, question.text, end.verdict, end.evidence)
    after = report(None, question.text, end.verdict, end.evidence, made)
    assert after["explanation"] == []
    assert after["verdict"] == before["verdict"]


def test_a_mouth_that_lies_and_tells_the_truth_is_heard_only_where_it_tells_the_truth() -> None:
    folder = next(one for one in CASES if one.name == "shm-01-64mb-default")
    question, end = judged(folder)
    true = [one.written for one in itertools.islice(honest(question, end), 4)]
    lie = Claim("invented", "GPU 57 draws 1,234 W and sits at 133 C.", ("E1",)).written
    made = explain(Liar(" ".join([*true, lie])), question, end)
    assert made.lines
    assert all("1,234" not in line.text for line in made.lines)
    assert any("1,234" in text for text, _ in made.dropped)


def test_the_liar_would_be_heard_if_nothing_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The adversary says what is false: otherwise the tests above prove nothing."""
    question, end = judged(CASES[0])
    spoken = [one.written for one in lies(question, end)]
    assert len(spoken) > 60
    monkeypatch.setattr(Grounds, "checked", lambda *_: None)
    assert lies_that_pass(CASES[0]) == [(one.sort, one.written) for one in lies(question, end)]
    made = explain(Liar(" ".join(spoken)), question, end)
    assert any("983.7" in line.text for line in made.lines)
