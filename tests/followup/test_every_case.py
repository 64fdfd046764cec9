"""Every follow-up on every case of the bug reports: it is answered, and what it cites is there."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from bot.followup import Intent, answer, wanted
from bot.followup.intent import intent
from bot.investigate import Judged, conclude
from bot.narrator import Line
from bot.question import Question
from tools.evidence import read_back
from tools.hosts.files import read_texts
from tools.probes import PROBES

CASES = sorted((Path(__file__).parents[1] / "scenarios" / "dev").iterdir())
ASKED = (
    "why not NCCL?", "is it the power cap?", "what about cuda graphs?", "is it the riser?", "why not the moon?",
    "what about GPU 0?", "what about GPU 5?", "what if we had NVLink?", "what if it ran at gen3 x8?", "what if tp 1",
    "what if tp 4", "what if the accept length was 2", "what if the link was fixed", "what if we had no p2p?",
    "what if we enable the prefix cache", "compare with CT130", "check again", "show me the log lines", "show E1",
    "show me the evidence", "show the nvidia-smi output", "who set disable_radix_cache?", "who set NCCL_ALGO?",
    "grep the log for batch", "why?", "explain it like I am new", "how sure are you?", "what should I do?",
    "what could you not check?", "and prefill?", "why is the tail so slow? 20 tok/s", "thanks", "help",
)  # fmt: skip
_CITES_NOTHING = {
    "thanks",
    "help",
    "compare",
    "again",
    "evidence",
    "log_lines",
    "what_if",
    "grep",
    "who_set",
}


@cache
def judged(folder: Path) -> tuple[Question, Judged]:
    question = Question.of((folder / "question.txt").read_text(encoding="utf-8"))
    files = sorted((folder / "evidence").iterdir())
    looks = [
        read_back(number, found.probe, found.source, found.output, found.trouble)
        for number, found in enumerate(read_texts(files, PROBES), start=1)
    ]
    return question, conclude(question, looks)


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_every_follow_up_is_answered_and_cites_what_is_there(folder: Path, well: Judged) -> None:
    question, end = judged(folder)
    ids = {look.id for look in end.evidence}
    for text in ASKED:
        meant = intent(text, ["CT130"], addressed=True) or Intent.rejudging(text)
        given = answer(meant, question, end, text, well if meant.kind == "compare" else None)
        lines = [part for part in given.parts if isinstance(part, Line)]
        assert lines, text
        for line in lines:
            assert line.text.strip(), text
            assert set(line.cites) <= ids, (text, line)
            assert "--json" not in line.text, (text, line)
            if line.kind != "said":  # a quotation is as it is
                assert not re.search(r"(?<!\.)\.\.(?![./])", line.text), (text, line)
        assert set(given.looks) <= ids
        assert all(type(probe) in PROBES.values() for probe in wanted(meant, end.evidence))


def test_a_case_without_any_look_is_answered_too() -> None:
    end = conclude(Question.of(""), [])
    for text in ASKED:
        meant = intent(text, ["CT130"], addressed=True) or Intent.rejudging(text)
        assert answer(meant, Question.of(""), end, text).parts, text
