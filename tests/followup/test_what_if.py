"""What changes would give: the step model, with intervals, and what it cannot say."""

from __future__ import annotations

import pytest

from bot.followup import Intent, answer
from bot.investigate import Judged, conclude
from bot.narrator import Line, Table
from bot.question import Question
from tools.known import Known
from tools.physics.link import Link
from tools.physics.seen import Seen
from tools.physics.step import decode_step
from tools.physics.whatif import Today, would_be


@pytest.fixture
def today(sick: Judged) -> Today:
    return Today.of(Seen.of(Known(sick.evidence).get))


def said(end: Judged, text: str) -> str:
    given = answer(Intent("what_if", text=text), Question.of(""), end, text)
    assert not given.attached
    parts = []
    for part in given.parts:
        if isinstance(part, Table):
            parts += [" | ".join(row) for row in (part.head, *part.rows)]
        else:
            parts.append(part.text)
    return "\n".join(parts)


def test_today_is_what_was_measured(today: Today) -> None:
    assert today.step_measured
    assert today.prefill_measured
    assert today.tok_s == pytest.approx(55, abs=0.3)
    assert today.prefill_tok_s == pytest.approx(1430, abs=10)


def test_no_change_gives_what_is(today: Today) -> None:
    same = would_be(today, today.deployment)
    assert same.step_ms == pytest.approx((today.step_ms,) * 3)
    assert same.decode_pct == pytest.approx((0, 0, 0), abs=1e-9)
    assert same.prefill_tok_s == pytest.approx((today.prefill_tok_s,) * 3)


def test_a_repair_takes_off_what_the_verdict_says_that_the_link_costs(
    today: Today, sick: Judged
) -> None:
    room = sick.verdict.headroom
    assert room
    assert room.link_cost
    assert room.prefill_ceiling
    repaired = would_be(today, today.over(Link.pcie(4)))
    assert today.step_ms - repaired.step_ms.mid == pytest.approx(room.link_cost.decode_ms.mid)
    assert repaired.tok_s.mid == pytest.approx(room.expected_tok_s.mid)
    assert repaired.prefill_tok_s == pytest.approx(room.prefill_ceiling)


def test_a_bridge_is_little_over_a_healthy_link_and_much_over_todays(sick: Judged) -> None:
    told = said(sick, "we had nvlink")
    assert "With an NVLink bridge: decode +4 % (+2.4 to +7.2), 57 instead of 55 tok/s" in told
    assert "prefill 2.2x (1.9 to 2.5) against today's 1,431 tok/s" in told
    assert "Against a healthy PCIe Gen4 x16 it is decode +0.5 % and prefill +5.7 %" in told
    assert "the repair gives you nearly all of that for nothing" in told
    assert "decode (tok/s) | 55 | 57.2 (56.3 to 58.9) | 56.9 (56.1 to 58.4)" in told


def test_on_a_healthy_machine_there_is_nothing_to_repair_first(well: Judged) -> None:
    told = said(well, "we had nvlink")
    assert "repair" not in told
    assert "prefill +5.7 %" in told


def test_a_narrower_link_loses(well: Judged) -> None:
    told = said(well, "it ran at gen3 x8")
    assert "With PCIe Gen3 x8: decode −" in told
    assert "prefill −" in told


def test_the_repair_itself_is_not_compared_with_itself(sick: Judged) -> None:
    told = said(sick, "the link was fixed")
    assert told.startswith("With PCIe Gen4 x16: decode +3.4 %")
    assert "Against" not in told


def test_without_peer_access_both_phases_lose(sick: Judged) -> None:
    told = said(sick, "without p2p")
    assert "decode −7.7 %" in told
    assert "stages every message through the host's memory" in told


def test_the_accept_length_moves_decode_in_proportion_and_prefill_not_at_all(
    today: Today, sick: Judged
) -> None:
    now = today.deployment.accept_len
    more = would_be(today, today.accepting(4.0))
    assert more.tok_s.mid == pytest.approx(today.tok_s * 4.0 / now)
    told = said(sick, "the accept length was 3.75")
    assert "decode +17 %, 64 instead of 55 tok/s; prefill stays as it is" in told


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("the accept length was 5", "An accept length of 5 cannot be: 3 drafts give 1 to 4."),
        ("gen5", "RTX A6000 cards do PCIe Gen4 at most"),
        ("tp 1", "TP 1 cannot be: the weights are 52 GiB for each GPU"),
        ("tp 2", "It runs with TP 2 already."),
        ("tp 3", "TP 3 is not a size"),
        ("gen1", "That is how it runs: PCIe Gen1 x16."),
        ("we had H100s", "I cannot say what “we had H100s” would give"),
    ],
)
def test_what_cannot_be_or_is_not_known_is_said_with_why(sick: Judged, text: str, why: str) -> None:
    assert why in said(sick, text)


def test_four_gpus_read_half_as_much_each_and_the_missing_ones_are_named(
    today: Today, sick: Judged
) -> None:
    split = would_be(today, today.split(4, today.deployment.link))
    assert split.step_ms.mid < 0.75 * today.step_ms
    assert split.step_ms.lo < split.step_ms.mid < split.step_ms.hi
    told = said(sick, "tp 4")
    assert "this needs 2 more of the same kind" in told


def test_one_gpu_alone_needs_no_link(today: Today) -> None:
    alone = today.split(1, Link.pcie(4))
    assert decode_step(alone).links.mid == 0


def test_a_finding_with_a_figure_answers_what_the_model_does_not(sick: Judged) -> None:
    given = answer(
        Intent("what_if", frozenset({"prefix_cache_off"}), text="we enable the prefix cache"),
        Question.of(""),
        sick,
        "",
    )
    last = given.parts[-1]
    assert isinstance(last, Line)
    assert "Today it costs prefill −60 % (−95 to −20)" in last.text
    assert last.cites == ("E3",)


def test_what_is_not_known_of_the_deployment_is_named(sick: Judged) -> None:
    left = [one for one in sick.evidence if one.probe and one.title != "ReadModelConfig"]
    end = conclude(Question.of(""), left)
    assert said(end, "nvlink") == "I cannot work that out: the model's config was not read."


def test_without_a_log_today_is_the_models(sick: Judged) -> None:
    left = [one for one in sick.evidence if one.probe and one.title != "ReadServerLog"]
    told = said(conclude(Question.of(""), left), "we had nvlink")
    assert "Not measured but modelled: today's step and today's prompt rate." in told
