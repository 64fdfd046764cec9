"""Which questions are put to the host for an answer: those that it needs, and none twice."""

from __future__ import annotations

from typing import Any

import pytest

from bot.followup import Intent, wanted
from bot.followup.intent import intent
from bot.investigate import Judged
from tools.evidence import Evidence, learn
from tools.host import Output
from tools.probes import PROBES


def asked(text: str, looks: list[Evidence], scope: dict[str, Any] | None = None) -> list[str]:
    meant = intent(text, addressed=True)
    assert meant
    return [probe.key for probe in wanted(meant, looks, scope)]


@pytest.fixture
def looks(sick: Judged) -> list[Evidence]:
    return [one for one in sick.evidence if one.probe]


@pytest.mark.parametrize(
    "text",
    [
        "why not NCCL?", "what about GPU 1?", "what if we had NVLink?", "why?", "how sure are you?",
        "what should I do?", "show E5", "show me the log lines", "and prefill?", "compare with CT130",
        "who set disable_piecewise_cuda_graph?", "who set disable_radix_cache?", "who set NCCL_ALGO?",
        "check again", "thanks",
    ],
)  # fmt: skip
def test_a_whole_case_answers_without_a_new_look(text: str, looks: list[Evidence]) -> None:
    assert asked(text, looks) == []


def test_the_log_is_searched_for_what_is_named_where_the_log_lies(looks: list[Evidence]) -> None:
    scope = {"port": 30000, "log_path": "/x.log", "source_path": "/y", "extra": 1, "none": None}
    assert asked("grep the log for retract", looks, scope) == [
        'GrepServerLog{"log_path": "/x.log", "port": 30000, "text": "retract"}'
    ]


def test_a_search_that_was_made_is_not_made_again(looks: list[Evidence]) -> None:
    probe = wanted(Intent("grep", text="retract"), looks)[0]
    lost = learn(16, probe, "CT129", Output(status=None, lost="gone"))
    assert asked("grep the log for retract", [*looks, lost]) == []


def test_the_source_is_searched_for_another_flag(looks: list[Evidence]) -> None:
    without = [one for one in looks if one.title != "ReadSourceTexts"]
    assert asked("who set enable_dp_attention?", without) == [
        'ReadSourceLines{"text": "enable_dp_attention"}'
    ]
    assert asked("who set enable_dp_attention?", looks) == [], "its source is there"


def test_a_text_that_may_not_be_searched_is_not_asked(looks: list[Evidence]) -> None:
    assert wanted(Intent("grep", text="a\nb"), looks) == []
    assert wanted(Intent("grep", text="x"), looks) == []


def test_looks_that_were_never_taken_are_taken(looks: list[Evidence]) -> None:
    left = [
        one for one in looks if one.title not in ("SampleGpus", "ReadKernelLog", "ReadEnvironment")
    ]
    assert asked("what about GPU 1?", left) == ["ReadKernelLog", "SampleGpus"]
    assert asked("why not NCCL?", left) == ["ReadEnvironment", "ReadKernelLog"]
    assert asked("who set NCCL_ALGO?", left) == ["ReadEnvironment"]


def test_a_look_that_failed_is_not_repeated(looks: list[Evidence]) -> None:
    assert any(one.title == "ReadKernelLog" and one.trouble for one in looks)
    assert asked("what about GPU 0?", looks) == []


def test_what_is_asked_are_probes_of_the_table(looks: list[Evidence]) -> None:
    for kind in ("gpu", "why_not", "who_set", "log_lines"):
        meant = Intent(kind, frozenset({"nccl", "power"}), gpu=0, text="enable_dp_attention")
        assert all(type(probe) in PROBES.values() for probe in wanted(meant, []))
