"""What changed between two looks: the verdict, rates that moved, links under load; and nothing else."""

from __future__ import annotations

import pytest

from bot.demo import shipped
from bot.investigate import Judged, conclude
from bot.narrator.changed import ago, changed, concluded
from bot.question import Question
from tools.probes import PROBES


def judged(name: str) -> Judged:
    return conclude(Question.of("why is it slow?"), shipped(name).evidence(PROBES))


@pytest.mark.parametrize(
    ("category", "headline", "said"),
    [
        ("at_ceiling", "Decode gives 95% of what is possible.", "At the ceiling: Decode gives 95 % of what is possible"),
        (None, "which host?", "which host?"),
        ("hardware", None, "ended without a verdict"),
    ],
)  # fmt: skip
def test_how_a_look_ended_is_one_line(
    category: str | None, headline: str | None, said: str
) -> None:
    assert concluded(category, headline) == said


def test_a_repaired_link_is_told_with_what_it_gave() -> None:
    said = [line.text for line in changed(judged("ct129"), judged("ct130"), 7200)]
    assert said[0] == "Compared with the look 2 h ago:"
    assert said[1].startswith("It was: the PCIe links of GPU 0 and GPU 1")
    assert "Now: " in said[1]
    assert any(line.startswith("Cold prefill: ") and "tok/s (+" in line for line in said)
    assert "The link of GPU 0 under load: Gen1 → Gen4." in said


def test_what_did_not_move_is_one_line() -> None:
    said = [line.text for line in changed(judged("ct129"), judged("ct129"), 60)]
    assert said[1].startswith("The same verdict: the PCIe links of GPU 0 and GPU 1")
    assert said[2:] == ["Nothing that I measured moved."]


@pytest.mark.parametrize(
    ("age_s", "says"),
    [(0, "1 s ago"), (89, "89 s ago"), (90, "2 min ago"), (5400, "2 h ago"), (86400, "24 h ago"), (200000, "2 days ago")],
)  # fmt: skip
def test_an_age_is_told_as_people_do(age_s: float, says: str) -> None:
    assert ago(age_s) == says
