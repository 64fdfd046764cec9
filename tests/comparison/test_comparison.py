"""Two servers side by side: each pair differs in one thing that decides, and that is what is told."""

from __future__ import annotations

import math

import pytest

from bot.demo import shipped
from bot.investigate import conclude
from bot.question import Question
from tests.comparison.pairs import LINK_AT_GEN1, Edit, decodes, jitters, put, runs_at, side
from tools.comparison import Comparison, Difference, Side, compare
from tools.comparison.decode import decodes as decodes_of
from tools.comparison.gain import percents
from tools.engine import DecodeLine, ServerLog
from tools.probes import PROBES


def shipped_side(name: str) -> Side:
    case = shipped(name)
    end = conclude(Question.of(case.question, [case.host or ""]), case.evidence(PROBES))
    return Side(case.host or "", end.evidence, end.verdict)


@pytest.fixture(scope="module")
def well() -> Side:
    return side("well")


def against(well: Side, *edits: Edit) -> Comparison:
    return compare(side("other", *edits), well)


def named(told: Comparison, what: str) -> Difference:
    return next(one for one in told.differences if one.what == what)


def test_the_twins_differ_by_the_link_which_explains_decode_and_cold_prompts() -> None:
    told = compare(shipped_side("ct129"), shipped_side("ct130"))
    assert [one.what for one in told.costly] == ["disable_radix_cache", "link under load"]
    for one in told.costly:
        assert one.gain
        assert one.gain.prefill
        assert one.gain.prefill.mid > 0, "CT130 has the gain, and CT129 the loss"
    assert told.decode
    assert told.decode.apart
    assert told.decode.running == 1
    assert [one.what for one, _ in told.decode.parts] == ["link under load"]
    assert 3 < percents(told.decode.whole).mid < 5
    assert told.decode.left.lo < 0 < told.decode.left.hi
    assert told.prefill
    assert told.prefill.left.lo < 0 < told.prefill.left.hi
    assert not told.next_test, "what is left is within what the model can say"


def test_a_slow_link_is_priced_by_the_step_model_from_both_sides(well: Side) -> None:
    told = against(well, LINK_AT_GEN1, decodes(times=0.966))
    first = told.differences[0]
    assert (first.what, first.here, first.there) == ("link under load", "Gen1 x16", "Gen4 x16")
    assert first.source == "the step model, from both sides"
    assert first.gain
    assert first.gain.decode
    assert 2 < percents(first.gain.decode).mid < 5
    assert first.cause == "pcie_gen_low_under_load"
    assert first.ill == 0


def test_an_accept_length_explains_its_share_exactly(well: Side) -> None:
    told = against(well, decodes(times=0.8, accepted=0.8))
    assert told.differences[0].what == "accept length"
    assert told.decode
    (part, gain), *others = told.decode.parts
    assert part.source == "measured"
    assert gain.mid == pytest.approx(math.log(1 / 0.8), rel=0.02)
    assert not others
    assert abs(told.decode.left.mid) < 0.01


def test_an_argument_that_differs_is_told_with_both_values(well: Side) -> None:
    told = against(
        well,
        put('\\"--tp-size\\"', '\\"--num-continuous-decode-steps\\", \\"4\\", \\"--tp-size\\"'),
        put('\\"num_continuous_decode_steps\\": 1', '\\"num_continuous_decode_steps\\": 4'),
        put("num_continuous_decode_steps=1", "num_continuous_decode_steps=4"),
    )
    one = named(told, "num_continuous_decode_steps")
    assert (one.here, one.there, one.gain) == ("4", "1", None)
    assert told.costly == ()


def test_a_version_is_priced_where_the_engine_schedules_in_another_way(well: Side) -> None:
    told = against(well, put("0.5.11", "0.5.9"), decodes(times=0.98))
    one = named(told, "engine version")
    assert (one.here, one.there) == ("0.5.9", "0.5.11")
    assert one.gain
    assert one.gain.decode
    assert 1 < percents(one.gain.decode).mid < 3, "drafts without overlap: about 1 ms of a step"


def test_a_low_memory_clock_costs_what_memory_takes_longer(well: Side) -> None:
    told = against(well, put(" 7601, ", " 5001, "), decodes(times=0.7))
    first = told.differences[0]
    assert (first.what, first.here, first.there) == (
        "memory clock at work", "5,001 MHz", "7,601 MHz",
    )  # fmt: skip
    assert told.decode
    assert told.decode.left.lo < 0 < told.decode.left.hi


def test_a_power_cap_costs_cold_prompts_and_decode_little(well: Side) -> None:
    told = against(well, put('\\"power_limit_w\\": 300.0', '\\"power_limit_w\\": 210.0'))
    one = named(told, "power limit")
    assert one.gain
    assert one.gain.prefill
    assert one.gain.decode
    assert percents(one.gain.prefill).mid > 10
    assert abs(percents(one.gain.decode).mid) < 2


def test_another_product_is_one_difference_and_not_also_its_clocks(well: Side) -> None:
    told = against(
        well, put("NVIDIA RTX A6000", "NVIDIA GeForce RTX 3090"), put(" 7601, ", " 9501, ")
    )
    assert told.differences[0].what == "GPUs"
    assert "RTX 3090" in told.differences[0].here
    assert named(told, "memory clock at work").gain is None, "MHz of two products mean nothing"


def test_peer_access_that_is_denied_is_priced(well: Side) -> None:
    told = against(well, put("OK\\tX", "CNS\\tX"), put("X\\tOK", "X\\tCNS"))
    one = named(told, "peer access")
    assert (one.here, one.there) == ("CNS", "OK")
    assert one.gain
    assert one.gain.most > 0.02


def test_what_differs_between_any_two_servers_is_left_out(well: Side) -> None:
    told = against(
        well,
        put("CT130", "gpu-7"), put('\\"pid\\": 412', '\\"pid\\": 98412'), put("30000", "30007"),
        put("2026-11-24", "2026-10-02"), put("/models/", "/data/hub/"),
        put("0000-4000-8000-000000000130", "0000-4000-8000-00000000aaaa"),
        put("random_seed=", "random_seed=7"), put("/var/log/sglang/", "/srv/logs/"),
        put('\\"temp_c\\": 37', '\\"temp_c\\": 44'), put('\\"replays\\": 0', '\\"replays\\": 3'),
    )  # fmt: skip
    assert told.differences == ()
    assert told.decode
    assert not told.decode.apart


def test_a_link_that_is_low_at_rest_is_no_difference() -> None:
    looks = ("ReadLaunch", "ReadServerInfo", "ReadServerLog", "ReadModelConfig", "ReadGpus")
    idle = side("idle", only=looks)
    other = side("other", put('\\"link_gen\\": 1,', '\\"link_gen\\": 4,'), only=looks)
    assert compare(idle, other).differences == ()


def test_loads_that_never_meet_are_not_compared_and_the_test_is_told(well: Side) -> None:
    told = against(well, runs_at(7))
    assert told.decode is None
    assert told.why == (
        "other was seen with 8 to 9 running requests, well with 1 to 2 running requests"
    )
    assert "--max-concurrency 1 " in told.next_test


def test_the_first_line_after_a_pause_is_no_measurement() -> None:
    lines = [
        DecodeLine(rank="TP0", running=1, tok_s=rate, after_gap=rate < 10)
        for rate in (0.5, 50.0, 51.0, 0.6, 52.0, 0.7, 53.0, 0.8)
    ]
    found = decodes_of(ServerLog(decode=tuple(lines)))
    assert found[1].lines == 4
    assert found[1].tok_s.lo == 50.5, "the two lines of one prompt count once"
    assert decodes_of(ServerLog(decode=tuple(lines[:4]))) == {}
    assert decodes_of(None) == {}


def test_rates_within_their_own_spread_are_alike() -> None:
    told = compare(side("one", jitters(0.08)), side("other", jitters(0.08), decodes(times=1.02)))
    assert told.decode
    assert not told.decode.apart


def test_a_gap_without_a_reason_is_said_to_have_none(well: Side) -> None:
    told = against(well, decodes(times=0.85))
    assert told.costly == ()
    assert told.decode
    assert told.decode.apart
    assert told.decode.parts == ()
    assert percents(told.decode.left).mid == pytest.approx(100 / 0.85 - 100, rel=0.05)
    assert told.next_test


def test_one_side_that_was_hardly_seen_lacks_and_does_not_differ(well: Side) -> None:
    told = compare(side("dark", only=("ReadGpus",)), well)
    assert "the serve log" in told.unseen[0]
    assert "a GPU at work" in told.unseen[0]
    assert told.unseen[1] == ()
    assert told.costly == ()
    assert told.why == "no serve log of dark was read"
    nothing = compare(side("nothing", only=("NoProbe",)), side("none", only=("NoProbe",)))
    assert nothing.differences == ()


def test_a_finding_is_no_difference_where_the_other_side_was_not_checked(well: Side) -> None:
    told = compare(side("sick", LINK_AT_GEN1), side("dark", only=("ReadLaunch",)))
    found = named(told, "pcie gen low under load")
    assert (found.here, found.there) == ("yes", "not checked")
    assert found.open_yet
    assert not found.costs
    assert told.costly == ()


@pytest.mark.parametrize(
    "edits",
    [
        (LINK_AT_GEN1, decodes(times=0.966)), (decodes(0.8, 0.8),), (put("0.5.11", "0.5.9"),),
        (put(" 7601, ", " 5001, "), decodes(times=0.7)), (runs_at(7),), (),
        (put("NVIDIA RTX A6000", "NVIDIA GeForce RTX 3090"),),
    ],
)  # fmt: skip
def test_a_comparison_turned_round_is_the_same_one(well: Side, edits: tuple[Edit, ...]) -> None:
    other = side("other", *edits)
    there, back = compare(other, well), compare(well, other)
    assert _rounded(there.differences) == _rounded([one.turned() for one in back.differences])
    for one, two in zip((there.decode, there.prefill), (back.decode, back.prefill), strict=True):
        assert (one is None) == (two is None)
        if one and two:
            turned = two.turned()
            assert one.whole == pytest.approx(turned.whole)
            assert one.left == pytest.approx(turned.left)
    assert there.unseen == (back.unseen[1], back.unseen[0])


def test_the_order_of_looks_changes_nothing(well: Side) -> None:
    sick = side("sick", LINK_AT_GEN1, decodes(times=0.966))
    mixed = Side("sick", tuple(reversed(sick.evidence)), sick.verdict)
    assert [one.what for one in compare(mixed, well).differences] == [
        one.what for one in compare(sick, well).differences
    ]


def test_what_is_asked_about_comes_first() -> None:
    sick, healthy = shipped_side("ct129"), shipped_side("ct130")
    assert compare(sick, healthy, ["decode"]).differences[0].what == "link under load"
    assert compare(sick, healthy, ["ttft"]).differences[0].what == "disable_radix_cache"


def _rounded(found: object) -> list[tuple[object, ...]]:
    return [
        (one.what, one.here, one.there, one.source, one.ill, _figures(one))
        for one in found  # type: ignore[attr-defined]
    ]


def _figures(one: Difference) -> list[float]:
    gains = (one.gain.decode, one.gain.prefill) if one.gain else ()
    return [round(part, 9) + 0.0 for gain in gains if gain for part in gain]
