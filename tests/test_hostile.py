"""Hostile answers: whatever a text holds, reading and judging it end, with facts or one sentence.

The texts are golden answers, changed by a fixed seed as accidents and enemies change them, units
that repeat (how long they take is measured by `make bench`), and random bytes. A longer search: HOSTILE_S=600 pytest.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot import narrator
from bot.investigate import Judged, conclude
from bot.question import Question
from bot.report import report
from tests.hostile_texts import ANYWHERE, readings
from tools.errors import ProbeError, Undecided
from tools.evidence import FELL, Evidence, learn, read_back
from tools.host import Output
from tools.hosts.files import read_texts
from tools.judgement import FELL as RULE_FELL
from tools.known import Known
from tools.probe import Probe
from tools.probes import PROBES
from tools.rules import RULES

SEARCH_S = float(os.environ.get("HOSTILE_S", "4"))
GOLDEN = [
    path
    for path in sorted((Path(__file__).parent / "golden").glob("*/*.out"))
    if path.stat().st_size < 60_000
]
NUMBER = re.compile(r"\d+(?:\.\d+)?")
NUMBERS = (
    "NaN", "Infinity", "-Infinity", "1e999", "-1", "0", "-0.0", "9" * 30, "9" * 400, "1e308", "null", '"x"', "[]", "{}",
    "true", "", "1.5.2", "0x10", "N/A", "-5.5", "1e-320", "4294967295", "18446744073709551615",
)  # fmt: skip
PIECES = (
    "\x1b[31m", "\x1b]0;x\x07", "\0", "\u202e", "\r", "\n", "\u2028", "\ufeff", "'", '"', "{", "[", "<", ">", "\\",
    "\x85", "\t", " " * 300, "%s", "\u0661\u0662",
)  # fmt: skip


def changed(text: str, chance: random.Random) -> str:
    """Cut, doubled, with other numbers, with something put in or taken out."""
    at = chance.randrange(len(text) + 1)
    lines = text.split("\n")
    match chance.randrange(7):
        case 0:
            return text[:at]
        case 1:
            return text[at:]
        case 2:
            line = chance.randrange(len(lines))
            return "\n".join(
                [*lines[:line], *[lines[line]] * chance.choice((2, 3, 20)), *lines[line:]]
            )
        case 3:
            return text[:at] + chance.choice(PIECES) + text[at:]
        case 4:
            return text[:at] + text[at + chance.choice((1, 5, 100)) :]
    numbers = list(NUMBER.finditer(text))
    for found in sorted(chance.sample(numbers, min(len(numbers), chance.choice((1, 1, 3, 10)))),
                        key=lambda one: -one.start()):  # fmt: skip
        text = text[: found.start()] + chance.choice(NUMBERS) + text[found.end() :]
    return text


def looked(number: int, path: Path, text: str) -> Evidence:
    """Read a text as a probe does, without the net that catches what no parser foresaw."""
    probe: Probe[Any] = PROBES[path.parent.name]()
    probe.recognises(text)
    look = learn(number, probe, "x", Output(stdout=text))
    assert FELL not in look.trouble
    return look


def told(end: Judged) -> None:
    """All that is told of an investigation can be told."""
    json.dumps(report("h", "q", end.verdict, end.evidence), allow_nan=False)
    for look in end.evidence:
        list(narrator.look(look))
    list(narrator.verdict(end.verdict))
    assert not [one.why for one in end.verdict.unchecked if RULE_FELL in one.why]


def test_changed_answers_become_facts_or_a_sentence_and_rules_bear_them() -> None:
    chance, over = random.Random(7), time.monotonic() + SEARCH_S
    question = Question.of("why is it slow? 55 tok/s, it was 70")
    while time.monotonic() < over:
        looks = []
        for number in range(1, chance.choice((2, 2, 4, 9))):
            path = chance.choice(GOLDEN)
            text = path.read_bytes().decode("utf-8", "replace")
            for _ in range(chance.choice((1, 1, 2, 4))):
                text = changed(text, chance)
            looks.append(looked(number, path, text))
        known = Known(looks)
        for rule in RULES:
            facts = {need.name: known.get(need.facts) for need in rule.needs}
            if any(facts[need.name] is None and not need.optional for need in rule.needs):
                continue
            with contextlib.suppress(Undecided):
                rule.judge(**facts)
        told(conclude(question, looks))


@pytest.mark.parametrize("name", ANYWHERE)
def test_a_unit_that_repeats_is_read_or_refused(name: str) -> None:
    text = ANYWHERE[name].text()
    for reading in readings().values():
        with contextlib.suppress(ProbeError):
            reading(text)


@settings(max_examples=60, deadline=None)
@given(
    data=st.one_of(
        st.binary(max_size=3000), st.text(max_size=3000).map(lambda x: x.encode("utf-8", "replace"))
    )
)
def test_random_files_are_judged_honestly(data: bytes) -> None:
    looks = [
        read_back(number, one.probe, one.source, one.output, one.trouble)
        for number, one in enumerate(read_texts([("x", data)], PROBES), start=1)
    ]
    told(conclude(Question.of(""), looks))


@pytest.mark.parametrize("depth", [200, 10_000])
@pytest.mark.parametrize("form", ['{{"a":{0}1{1}', "[{0}{1}]", "<nvidia_smi_log>{0}{1}"])
def test_what_is_nested_deeply_is_no_trouble(depth: int, form: str) -> None:
    opened, closed = ("<a>", "</a>") if "<" in form else ("[", "]")
    text = form.format(opened * depth, closed * depth)
    for kind in PROBES.values():
        probe = kind()
        probe.recognises(text)
        look = learn(1, probe, "x", Output(stdout=text))
        assert FELL not in look.trouble
