"""Rules are judged on what was learned, and the findings weighed for the question."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tools.errors import Undecided
from tools.evidence import Evidence, learn
from tools.host import Command, Output
from tools.probe import Facts, Probe
from tools.probes.gpus import ReadGpus
from tools.probes.launch import ReadLaunch
from tools.rule import Cleared, Effect, Finding, Rule, Where, rule
from tools.verdict import Interest, judge


class Heat(Facts):
    celsius: float | None = None
    fans: tuple[str, ...] = ()


class Noise(Facts):
    db: float


class ReadHeat(Probe[Heat]):
    """Read the heat."""

    def command(self) -> Command:
        return Command(argv=("heat",))

    def parse(self, stdout: str, /) -> Heat:
        return Heat(celsius=float(stdout))


class ReadNoise(Probe[Noise]):
    """Read the noise."""

    def command(self) -> Command:
        return Command(argv=("noise",))

    def parse(self, stdout: str, /) -> Noise:
        return Noise(db=float(stdout))


PROBES: dict[str, type[Probe[Any]]] = {"ReadHeat": ReadHeat, "ReadNoise": ReadNoise}


@rule(cause="hw_thermal_slowdown")
def too_hot(heat: Heat) -> Finding | None:
    """The GPU is too hot."""
    if heat.celsius is None:
        raise Undecided("no temperature told", settle="read it under load", suspicion=0.4)
    return (
        Finding("It is hot.", slows=frozenset({"prefill"}), confidence=0.9)
        if heat.celsius > 90
        else None
    )


@rule(cause="power_cap_low")
def capped(heat: Heat, noise: Noise) -> Finding | None:
    """The power is capped."""
    return Finding("Capped.", (noise,), slows=frozenset({"decode"}), confidence=0.8)


@rule(cause="pcie_gen_idle_only")
def idle_link(heat: Heat) -> Finding | Cleared | None:
    """The link is only idle."""
    if heat.celsius == 20:
        return Finding("The link was idle.", benign=True, confidence=0.9)
    return Cleared("the card is warm, so it was not idle")


RULES: tuple[Rule, ...] = (too_hot, capped, idle_link)


def seen(number: int, facts: Facts, probe: Probe[Any] | None = None) -> Evidence:
    return Evidence(f"E{number}", probe or ReadHeat(), "h", Output(), facts)


def test_a_rule_without_its_facts_is_unchecked_and_says_what_is_missing() -> None:
    verdict = judge([seen(1, Heat(celsius=30))], RULES, PROBES)
    unchecked = {one.rule.cause.id: one for one in verdict.unchecked}
    assert unchecked["power_cap_low"].why == "nothing tells of Noise"
    assert unchecked["power_cap_low"].how == "ReadNoise"


def test_the_trouble_of_a_look_is_why_a_rule_is_unchecked() -> None:
    failed = Evidence(
        "E2", ReadNoise(), "h", Output(status=1), trouble="Failed: Operation not permitted"
    )
    verdict = judge([seen(1, Heat(celsius=30)), failed], RULES, PROBES)
    assert [one.why for one in verdict.unchecked] == ["ReadNoise: Failed: Operation not permitted"]


def test_a_confirmed_finding_carries_the_verdict_and_cites_only_what_shows_it() -> None:
    verdict = judge([seen(1, Heat(celsius=95)), seen(2, Noise(db=1), ReadNoise())], RULES, PROBES)
    assert (verdict.category, verdict.cause) == ("hardware", "hw_thermal_slowdown")
    cited = {one.rule.cause.id: one.evidence for one in verdict.findings}
    assert cited == {"hw_thermal_slowdown": ("E1",), "power_cap_low": ("E2",)}


def test_what_is_asked_decides_between_two_true_findings() -> None:
    looks = [seen(1, Heat(celsius=95)), seen(2, Noise(db=1), ReadNoise())]
    verdict = judge(looks, RULES, PROBES, Interest(aspects=frozenset({"decode"})))
    assert verdict.cause == "power_cap_low"
    assert [one.rule.cause.id for one in verdict.findings] == [
        "power_cap_low",
        "hw_thermal_slowdown",
    ]


def test_a_false_alarm_is_a_verdict_and_not_a_default() -> None:
    alarmed = Interest(suspects=frozenset({"pcie"}))
    assert judge([seen(1, Heat(celsius=20))], RULES, PROBES, alarmed).category == "no_fault"
    assert judge([seen(1, Heat(celsius=30))], RULES, PROBES, alarmed).category == "inconclusive"


def test_what_excludes_a_hypothesis_is_told_in_the_words_of_the_rule() -> None:
    verdict = judge([seen(1, Heat(celsius=30))], RULES, PROBES)
    why = {one.rule.cause.id: one.why for one in verdict.ruled_out}
    assert why == {
        "hw_thermal_slowdown": "",
        "pcie_gen_idle_only": "the card is warm, so it was not idle",
    }


def test_inconclusive_names_the_one_test_that_decides() -> None:
    verdict = judge([seen(1, Heat(fans=("a",)))], RULES, PROBES)
    assert (verdict.category, verdict.cause) == ("inconclusive", None)
    assert verdict.next_test == "read it under load"


def test_without_any_evidence_the_verdict_is_inconclusive_and_names_a_look() -> None:
    verdict = judge([], RULES, PROBES)
    assert verdict.category == "inconclusive"
    assert verdict.next_test is not None
    assert "ReadHeat" in verdict.next_test


def test_a_larger_loss_outranks_a_smaller_one() -> None:
    def of(cause: str, loss: float) -> Rule:
        @rule(cause=cause)
        def found(heat: Heat) -> Finding:
            """Something is slow."""
            return Finding(
                cause, effect=Effect(prefill_pct=(-loss - 1, -loss, -loss + 1), source="a test")
            )

        return found

    rules = (of("pcie_width_narrow", 3), of("pcie_gen_low_under_load", 50))
    assert judge([seen(1, Heat())], rules, PROBES).cause == "pcie_gen_low_under_load"


def test_facts_of_one_type_are_merged_and_all_their_looks_cited() -> None:
    verdict = judge([seen(1, Heat(celsius=95)), seen(2, Heat(fans=("b",)))], (too_hot,), PROBES)
    assert verdict.findings[0].evidence == ("E1", "E2")


def test_a_rule_must_say_what_it_needs_and_what_it_supposes() -> None:
    with pytest.raises(TypeError, match="hypothesis"):

        @rule(cause="power_cap_low")
        def silent(heat: Heat) -> None: ...

    with pytest.raises(TypeError, match="at least one"):

        @rule(cause="power_cap_low")
        def needless(heat: Heat | None) -> None:
            """Nothing is needed."""

    with pytest.raises(KeyError):

        @rule(cause="no_such_cause")
        def nameless(heat: Heat) -> None:
            """It has no cause."""


def test_what_a_person_has_chosen_is_not_thrown_back_at_them() -> None:
    looks = [seen(1, Heat(celsius=95)), seen(2, Noise(db=1), ReadNoise())]
    asked = Interest(intended=frozenset({"hw_thermal_slowdown"}))
    assert judge(looks, RULES, PROBES, asked).cause == "power_cap_low"


def test_a_finding_cites_the_look_that_proves_and_not_the_one_that_merely_tells() -> None:
    @rule(cause="hw_thermal_slowdown")
    def hot_at_work(heat: Heat) -> Finding:
        """It is hot at work."""
        return Finding("hot", (Where(heat, lambda look: (look.celsius or 0) > 90),))

    verdict = judge([seen(1, Heat(celsius=20)), seen(2, Heat(celsius=95))], (hot_at_work,), PROBES)
    assert verdict.findings[0].evidence == ("E2",)


def test_two_rules_that_exclude_one_cause_are_told_as_one() -> None:
    @rule(cause="pcie_gen_idle_only")
    def also(noise: Noise) -> Cleared:
        """The link only seems idle."""
        return Cleared("it is loud")

    looks = [seen(1, Heat(celsius=30)), seen(2, Noise(db=1), ReadNoise())]
    (one,) = judge(looks, (idle_link, also), PROBES).ruled_out
    assert (one.why, one.evidence) == (
        "the card is warm, so it was not idle; it is loud",
        ("E1", "E2"),
    )


@rule(cause="cpu_contention")
def loud_neighbours(noise: Noise) -> Finding:
    """Neighbours are loud."""
    return Finding(f"{noise.db:.0f} dB.", confidence=0.9, slows=frozenset({"decode"}))


def test_a_load_slows_no_server_where_none_runs() -> None:
    noise = Evidence("E2", ReadNoise(), "host", Output(), Noise(db=90))
    assert judge([noise], [loud_neighbours], PROBES).cause == "cpu_contention"
    alone = judge(
        [lost(1, ReadLaunch(), "no model server is running here"), noise], [loud_neighbours], PROBES
    )
    assert (alone.cause, len(alone.findings)) == (None, 1)
    assert "No model server was seen" in alone.headline


def open_rule(suspicion: float) -> Rule:
    def undecided(noise: Noise) -> Finding | None:
        """Something is left open."""
        raise Undecided("that may be it", settle="try it", suspicion=suspicion)

    return rule(cause="pcie_gen_low_under_load")(undecided)


def lost(number: int, probe: Probe[Any], says: str) -> Evidence:
    return learn(number, probe, "host", Output(stdout=json.dumps({"absent": says})))


def test_what_everything_hangs_on_and_was_not_seen_is_the_headline() -> None:
    launch = lost(1, ReadLaunch(port=1), "no model server on port 1; there is sglang on port 30000")
    gpus = lost(2, ReadGpus(), "nvidia-smi is not installed there")
    noise = Evidence("E3", ReadNoise(), "host", Output(), Noise(db=40))
    assert judge([launch, gpus, noise], [open_rule(0.15)], PROBES).headline == (
        "No model server was seen, so little can be judged:"
        " Not there: no model server on port 1; there is sglang on port 30000."
    )
    assert "No GPU was seen" in judge([gpus, noise], [open_rule(0.15)], PROBES).headline
    assert "may be it" in judge([launch, gpus, noise], [open_rule(0.5)], PROBES).headline
    assert "was seen, so" not in judge([noise], [open_rule(0.15)], PROBES).headline


def found_as(cause: str, *, benign: bool = False, confidence: float = 0.9) -> Rule:
    @rule(cause=cause)
    def found(heat: Heat) -> Finding:
        """Something is true."""
        return Finding("It is so.", benign=benign, confidence=confidence)

    return found


def test_a_fault_that_costs_nothing_is_no_fault_and_answers_only_who_asks_for_it() -> None:
    rules = (found_as("cuda_graph_bs_exceeded", benign=True),)
    looks = [seen(1, Heat(celsius=30))]
    asked = Interest(suspects=frozenset({"sglang"}))
    verdict = judge(looks, rules, PROBES, asked)
    assert (verdict.category, verdict.cause) == ("inconclusive", None)
    assert [one.category for one in verdict.asides] == ["no_fault"]
    named = Interest(suspects=frozenset({"cuda_graph_bs_exceeded"}))
    assert judge(looks, rules, PROBES, named).category == "no_fault"


def test_a_suspicion_orders_what_is_true_and_proves_nothing() -> None:
    looks = [seen(1, Heat(celsius=30))]
    asked = Interest(suspects=frozenset({"moe_config_missing"}))
    weak, strong = (
        judge(looks, (found_as("moe_config_missing", confidence=sure),), PROBES, asked)
        for sure in (0.49, 0.51)
    )
    assert (weak.category, strong.category) == ("inconclusive", "config")


def test_a_faint_doubt_sends_nobody_testing() -> None:
    def doubt(suspicion: float) -> Rule:
        @rule(cause="power_cap_low")
        def asks(heat: Heat) -> Finding:
            """Something may be so."""
            raise Undecided("who knows", settle="a long test", suspicion=suspicion)

        return asks

    looks = [seen(1, Heat(celsius=30))]
    faint = judge(looks, (doubt(0.09),), PROBES).next_test
    assert faint
    assert faint != "a long test"
    assert judge(looks, (doubt(0.1),), PROBES).next_test == "a long test"
    crashed = Interest(aspects=frozenset({"crash"}))
    assert "dmesg" in (judge(looks, (doubt(0.1),), PROBES, crashed).next_test or "")


def test_the_next_look_says_what_a_person_would_type() -> None:
    class ReadTyped(ReadNoise):
        """Read the noise: all of it.

        Like: noise --all
        """

    verdict = judge([], (capped,), {"ReadTyped": ReadTyped})
    assert verdict.next_test == (
        "Let me see what `noise --all` prints, to read the noise; 1 hypotheses wait for it (ReadTyped)."
    )
