"""What a question claims is answered by name: a suspicion, an earlier rate, another version or machine."""

from __future__ import annotations

import pytest

from bot.investigate import conclude
from bot.question import Question
from bot.question.claims import faster_elsewhere
from tools.answered import Answer
from tools.engine import DecodeLine, ServerLog, Trials
from tools.engine.trial import Arm, Figure, Trial
from tools.evidence import Evidence
from tools.nvidia.gpus import Gpus, GpuSample
from tools.probe import Facts
from tools.verdict import Verdict

LOG = ServerLog(
    decode=tuple(
        DecodeLine(running=1, tok_s=rate, at="10:00") for rate in (70.0, 69.0, 55.0, 54.0)
    ),
)
COLD = Gpus(
    samples=tuple(
        GpuSample(
            index=0, name="NVIDIA RTX A6000", temp_c=61, reasons=frozenset(), util_pct=97, pstate=2
        )
        for _ in range(6)
    )
)


def asked(text: str, *facts: Facts) -> Verdict:
    looks = [Evidence(f"E{n}", None, "h", None, one) for n, one in enumerate(facts, start=1)]
    return conclude(Question.of(text), looks).verdict


def answer(verdict: Verdict, about: str) -> Answer:
    return next(one for one in verdict.answers if one.about == about)


def test_a_rate_that_is_remembered_is_looked_for_in_the_log() -> None:
    shown = answer(asked("it does 55 tok/s, it was 70", LOG), "rate")
    assert shown.holds
    assert "70 tok/s at 10:00" in shown.text
    assert shown.evidence == ("E1",)
    never = answer(asked("it does 55 tok/s, it was 110", LOG), "rate")
    assert never.holds is None
    assert "no line of this log shows it; the fastest is 70 tok/s" in never.text
    assert "cannot be told" in answer(asked("it does 55 tok/s, it was 70"), "rate").text


def test_a_rate_that_a_test_reaches_again_is_no_memory_alone() -> None:
    arm = Arm(label="old build", figures=(Figure(value=70.5, unit="tok/s"),))
    tried = Trials(trials=(Trial(arms=(arm,)),))
    assert (
        "the test reaches it again: old build"
        in answer(asked("it does 55 tok/s, it was 70", tried), "rate").text
    )


def test_a_suspicion_that_the_looks_exclude_is_said_to_be_none() -> None:
    verdict = asked("Is heat the problem?", COLD)
    heat = answer(verdict, "cause")
    assert heat.holds is False
    assert heat.text.startswith("Heat: no, because ")
    assert heat.evidence == ("E1",)
    assert verdict.category == "inconclusive"
    assert verdict.headline.startswith("Not what you ask about: Heat (")
    assert verdict.next_test


def test_a_suspicion_that_nothing_tells_of_is_left_open() -> None:
    nvlink = answer(asked("I think NVLink is broken", COLD), "cause")
    assert nvlink.holds is None
    assert "cannot be told from this" in nvlink.text


def test_what_is_only_spoken_of_is_no_claim() -> None:
    assert not asked("Which PCIe setting is best, and what does NVLink do here?", COLD).answers


@pytest.mark.parametrize(
    ("text", "elsewhere"),
    [
        ("since the upgrade to 0.5.12 it is slow", "version"),
        ("the new version is slower", "version"),
        ("another box with the same card makes 60 tok/s", "host"),
        ("a colleague gets 44 with the same model", "host"),
        ("decode is slow", ""),
    ],
)
def test_what_is_said_to_be_faster_elsewhere_is_understood(text: str, elsewhere: str) -> None:
    assert faster_elsewhere(text) == elsewhere
    assert Question.of(text).interest.elsewhere == elsewhere


def test_another_machine_cannot_be_judged_by_the_looks_at_one() -> None:
    told = answer(asked("another box makes 60 tok/s, this one 50", LOG), "elsewhere")
    assert told.holds is None
    assert "compare the two" in told.text


def test_a_version_is_blamed_or_cleared_by_a_test_alone() -> None:
    def tried(old: float, new: float) -> Trials:
        arms = (
            Arm(label="sglang 0.5.10", figures=(Figure(value=old, unit="tok/s"),)),
            Arm(label="sglang 0.5.12", figures=(Figure(value=new, unit="tok/s"),)),
        )
        return Trials(trials=(Trial(arms=arms),))

    said = "The new version is slower"
    assert answer(asked(said, tried(60, 45)), "elsewhere").holds is True
    assert answer(asked(said, tried(60, 60.5)), "elsewhere").holds is False
    assert answer(asked(said, LOG), "elsewhere").holds is None


def test_a_claim_is_no_claim_of_a_server_that_does_not_start() -> None:
    assert not [
        one
        for one in asked("Since the upgrade the server never starts").answers
        if one.about == "elsewhere"
    ]
