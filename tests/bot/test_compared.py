"""The words of a comparison: who is faster and why, in percent or as a factor, and what cannot be said."""

from __future__ import annotations

import json

import pytest

from bot.letter import Letter
from bot.narrator import Line, Table
from bot.narrator.compared import compared
from bot.narrator.why_faster import headline
from bot.slack.blocks.message import render
from tests.comparison.pairs import LINK_AT_GEN1, Edit, decodes, put, runs_at, side
from tools.comparison import Comparison, compare


def pair(*edits: Edit) -> Comparison:
    return compare(side("gpu-1", *edits), side("gpu-2"))


def test_each_reason_is_told_with_its_share_the_largest_first() -> None:
    said = headline(pair(LINK_AT_GEN1, decodes(0.8, 0.83)))
    assert said == (
        "gpu-2 decodes 25 % faster (23 to 27 %) at 1 running request: its accept length is 3.21 against 2.66"
        " (explains 21 of 25 %), its links run at Gen4 x16 and gpu-1's at Gen1 x16 (explains 3.8 of 25 %)."
    )


def test_what_speaks_against_it_is_told_too() -> None:
    said = headline(pair(LINK_AT_GEN1, decodes(1.1, 1.2)))
    assert said.startswith("gpu-1 decodes 10 % faster")
    assert ", although its links run at Gen1 x16 and gpu-2's at Gen4 x16 (costs it 3." in said


def test_from_twice_as_fast_on_it_is_a_factor() -> None:
    said = headline(pair(decodes(0.25, 0.5)))
    assert said.startswith("gpu-2 decodes 4.0 times as fast as gpu-1 (")
    assert "its accept length is 3.21 against 1.60 (a factor of 2.01)" in said


def test_without_a_reason_it_is_said_or_what_differs_is_named() -> None:
    assert headline(pair(decodes(0.85))).endswith(
        ", and nothing that was seen to differ explains it."
    )
    said = headline(pair(decodes(0.5), put("NVIDIA RTX A6000", "NVIDIA Unheard Of 1")))
    assert said.endswith(", and no figure is known of what differs: GPUs.")


def test_loads_that_never_meet_are_no_comparison_and_the_test_can_be_copied() -> None:
    told = pair(runs_at(7), LINK_AT_GEN1)
    assert headline(told).startswith("Decode of gpu-1 and gpu-2 cannot be compared: gpu-1 was seen")
    assert "link under load (Gen1 x16 on gpu-1, Gen4 x16 on gpu-2)" in headline(told)
    (test,) = (part for part in compared(told) if isinstance(part, Line) and part.kind == "test")
    assert "\n" not in test.text
    assert "sglang.bench_serving" in test.text


def test_alike_is_alike() -> None:
    assert headline(pair()) == (
        "gpu-1 and gpu-2 decode alike at 1 running request (57 tok/s). Nothing that costs differs."
    )
    assert not [part for part in compared(pair()) if isinstance(part, Table)]


@pytest.mark.parametrize(
    "edits",
    [
        (LINK_AT_GEN1, decodes(0.8, 0.83)), (runs_at(7),), (),
        (put("NVIDIA RTX A6000", "NVIDIA " + "X" * 200), put("0.5.11", "0.4.6"), decodes(0.3)),
    ],
)  # fmt: skip
def test_a_card_keeps_within_the_limits_of_slack(edits: tuple[Edit, ...]) -> None:
    told = pair(*edits)
    letter = Letter(
        key="run:3:answer",
        kind="answer",
        channel="C",
        thread="1",
        run=3,
        parts=tuple(compared(told)),
    )
    made = render(letter, {"E3": "https://slack.test/E3"})
    assert len(made.blocks) <= 50
    assert len(json.dumps(made.blocks)) < 13_000
    assert sum(block["type"] == "table" for block in made.blocks) <= 1
    assert headline(told)[:60] in made.text


def test_only_the_first_side_is_cited_where_the_thread_links_its_looks() -> None:
    told = pair(LINK_AT_GEN1)
    ids = {look.id for look in told.here.evidence}
    linked = [part for part in compared(told) if isinstance(part, Line)]
    assert linked[0].cites
    assert all(set(line.cites) <= ids for line in linked)
    assert not [
        line for line in compared(told, linked=False) if isinstance(line, Line) and line.cites
    ]
