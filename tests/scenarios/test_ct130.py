"""The healthy twin of the demo's case: the same server, whose links rise under load."""

from __future__ import annotations

import pytest

from bot.demo import shipped, shipped_path
from bot.investigate import conclude
from bot.question import Question
from tests.scenarios import make_ct129, make_ct130
from tests.scenarios.ct129 import story
from tools.evidence import Evidence
from tools.nvidia.gpus import Gpus
from tools.probes import PROBES


def looks() -> list[Evidence]:
    return shipped("ct130").evidence(PROBES)


def test_the_shipped_twin_is_what_its_generator_writes() -> None:
    assert shipped_path("ct130").read_text(encoding="utf-8") == make_ct130.text()


def test_telling_the_twin_leaves_the_story_as_it_was() -> None:
    with make_ct130.twin():
        assert (story.HOST, story.LINK_GEN) == ("CT130", 4)
    assert (story.HOST, story.LINK_GEN) == ("CT129", 1)
    assert make_ct129.text() == shipped_path().read_text(encoding="utf-8")


def test_it_says_that_it_is_synthetic_and_names_no_other_host() -> None:
    assert shipped("ct130").made.startswith("synthetic")
    assert "CT129" not in shipped_path("ct130").read_text(encoding="utf-8")


def test_its_links_are_low_at_rest_and_at_gen4_under_load() -> None:
    facts = {look.title: look.facts for look in looks()}
    rest, watched = facts["ReadGpus"], facts["SampleGpus"]
    assert isinstance(rest, Gpus)
    assert isinstance(watched, Gpus)
    assert {one.link_gen for one in rest.samples} == {1}
    assert {(one.link_gen, one.link_width) for one in watched.busy()} == {(4, 16)}


def test_it_is_at_its_ceiling_and_faster_than_its_sick_twin() -> None:
    case = shipped("ct130")
    verdict = conclude(Question.of(case.question, ["CT130"]), looks()).verdict
    assert verdict.category == "at_ceiling"
    assert verdict.headroom
    assert verdict.headroom.measured_tok_s == pytest.approx(57, abs=0.5)
    assert verdict.headroom.prefill_tok_s == pytest.approx(2940, rel=0.02)
    assert "pcie_gen_low_under_load" not in {one.rule.cause.id for one in verdict.findings}


@pytest.mark.parametrize(
    "asked", ["why is CT130 slow?", "is anything wrong with CT130?", "prefill on CT130 is slow"]
)
def test_its_prompts_find_their_prefixes_so_nothing_is_left_to_repair(asked: str) -> None:
    verdict = conclude(Question.of(asked, ["CT130"]), looks()).verdict
    assert verdict.category == "at_ceiling"
    assert "prefix_cache_off" not in {one.rule.cause.id for one in verdict.findings}


def test_a_case_that_is_not_shipped_is_refused() -> None:
    with pytest.raises(ValueError, match="no case called ct1"):
        shipped_path("ct1")
