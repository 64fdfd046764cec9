"""A sentence follows from lines of ours or is not told: its words, what turns them, and what joins them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.agent.checking.bearing import bears
from bot.agent.checking.frames import framed, readings
from bot.agent.checking.ground import Ground
from bot.agent.checking.grounds import Grounds
from bot.agent.checking.joints import pieces
from bot.agent.checking.phrase import Phrase
from bot.agent.checking.sentences import sentences
from bot.agent.checking.stems import sequence
from bot.agent.checking.turns import turns
from tests.agent.test_grounds import ct129
from tests.agent.voices import CASES, judged

SAID: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("said_of_verdicts.yaml").read_text(encoding="utf-8")
)
HONEST_KEPT = 0.6  # of paraphrases that are as free as people write


@cache
def grounds(case: str) -> Grounds:
    if case == "demo":
        return Grounds(ct129())
    return Grounds(judged(next(one for one in CASES if one.name == case))[1])


def told(case: str, text: str) -> bool:
    found = sentences(text)
    assert found, text
    return all(grounds(case).checked(one) is None for one in found)


@pytest.mark.parametrize("part", SAID, ids=lambda part: part["case"])
def test_no_lie_of_our_own_words_is_told(part: dict[str, Any]) -> None:
    assert [text for text in part["lies"] if told(part["case"], text)] == []


def test_honest_sentences_in_other_words_are_told_more_often_than_not() -> None:
    every = [(part["case"], text) for part in SAID for text in part["honest"]]
    kept = [one for one in every if told(*one)]
    assert len(kept) >= HONEST_KEPT * len(every), [one for one in every if one not in kept]


@pytest.mark.parametrize(("text", "joints"), [
    ("A link is slow because the slot is old", ["add", "cause"]),
    ("The cache is off, so every turn is read again", ["add", "so"]),
    ("Remove the flag to repair the link", ["add", "goal"]),
    ("If it stays low, reseat the card", ["if", "add"]),
    ("Reseat the card while the host is down", ["add", "while"]),
    ("Send prompts to another machine", ["add"]),
    ("The power brake is excluded, as no sample shows it", ["add", "cause"]),
])  # fmt: skip
def test_a_sentence_falls_into_pieces_by_what_joins_them(text: str, joints: list[str]) -> None:
    assert [one.joint for one in pieces(text)] == joints


@pytest.mark.parametrize(("line", "said"), [
    ("The links run at Gen1; card and slot can do Gen4", "slot and card could do Gen4"),
    ("No setting of NCCL makes them faster", "NCCL settings do not make them faster"),
    ("The links run at Gen1 under load", "Under load the links run at Gen1"),
    ("The server cannot get the memory, and does not start", "the server does not start"),
    ("A step takes 58.2 ms", "a step takes 58 ms"),
])  # fmt: skip
def test_a_line_bears_what_it_says_in_other_words(line: str, said: str) -> None:
    assert bears(Ground(line, "true"), Phrase(framed(said)))


@pytest.mark.parametrize(("line", "said"), [
    ("The links run at Gen1; card and slot can do Gen4", "card and slot do Gen4"),
    ("The links run at Gen1; card and slot can do Gen4", "the slot runs at Gen1"),
    ("The KV cache is only 10 % full", "the KV cache is full"),
    ("The driver reports errors, and what follows them is collateral", "the errors are collateral"),
    ("Requests wait or are taken back", "requests wait"),
    ("It costs prefill more than decode", "it costs decode more than prefill"),
    ("Neither a flag nor the engine switches the cache off", "the engine switches the cache off"),
])  # fmt: skip
def test_a_line_does_not_bear_what_is_turned_or_turned_round(line: str, said: str) -> None:
    assert not bears(Ground(line, "true"), Phrase(framed(said)))


@pytest.mark.parametrize(("step", "said"), [
    ("If it stays low: reseat card and riser", "reseat card and riser"),
    ("Retrain the link (host root, GPU idle)", "retrain the link"),
    ("A fault that stays with the slot is the riser", "the fault stays with the slot"),
    ("Risk: everything on that machine stops", "everything on that machine stops"),
])  # fmt: skip
def test_a_step_keeps_its_conditions_and_is_no_fact(step: str, said: str) -> None:
    assert not bears(Ground(step, "todo"), Phrase(said))


def test_what_people_say_for_a_part_of_a_verdict_is_read_in_our_words() -> None:
    assert framed("NCCL is not the culprit") == framed("NCCL was ruled out") == "NCCL is excluded"
    assert "reseat the card" in readings("The fix is to reseat the card")
    assert "Risk: everything stops" in readings("The risk is that everything stops")


def test_words_for_one_thing_are_one_and_numbers_are_words_of_a_sentence() -> None:
    assert sequence("Its cards span sockets") == sequence("The GPU crosses a socket")
    assert sequence("read at 1,431 tok/s")[-1] == "#1431"
    assert turns("only 3 % is lost") == frozenset()
    assert turns("only decode loses") == {"only"}
