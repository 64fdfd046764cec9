"""Texts of two machines in one bundle: nothing is concluded from a mixture of both."""

from __future__ import annotations

from tools.evidence import Evidence
from tools.host import Output
from tools.judgement import Confirmed, RuledOut, Unchecked, judge_one
from tools.known import Known
from tools.linux.machine import Machine
from tools.nvidia.gpus import Gpus, GpuSample
from tools.nvidia.topology import Pair, Topology
from tools.probe import Facts
from tools.rule import Cleared, Outcome, rule

EPYC = Machine(cpu_model="AMD EPYC 7302", cpus=32)
XEON = Machine(cpu_model="Intel Xeon E5-2680 v4", cpus=56, governors={"powersave": 56})


def card(name: str, index: int = 0, bdf: str | None = None, **more: float) -> GpuSample:
    return GpuSample(index=index, name=name, bdf=bdf, **more)


def known(*facts: Facts) -> Known:
    return Known([Evidence(f"E{n}", None, "file", Output(), one) for n, one in enumerate(facts, 1)])


@rule(cause="host_cpu_slow")
def needs_the_machine(machine: Machine) -> Outcome:
    """The cores are slow."""
    return Cleared(f"{machine.cpus} cores")


@rule(cause="hw_power_brake")
def likes_the_machine(gpus: Gpus, machine: Machine | None) -> Outcome:
    """The brake is on."""
    return Cleared(f"{len(gpus.cards())} cards, {machine.cpus if machine else 'no'} cores")


def test_two_processors_are_two_machines() -> None:
    assert "AMD EPYC 7302 against Intel Xeon" in EPYC.merged(XEON).mixed
    assert EPYC.merged(XEON).merged(Machine(cpus=4)).mixed
    assert EPYC.merged(Machine(governors={"performance": 32})).mixed == ""
    assert EPYC.merged(EPYC).mixed == ""


def test_one_index_with_two_products_is_two_cards() -> None:
    both = Gpus(samples=(card("NVIDIA GeForce RTX 3090", temp_c=40.0),)).merged(
        Gpus(samples=(card("NVIDIA GeForce RTX 4090", temp_c=70.0),))
    )
    assert len(both.cards()) == 2
    assert "GPU 0 is" in both.mixed
    assert all("0 (" in key for key in both.by_gpu())


def test_one_index_at_two_addresses_is_two_cards() -> None:
    one = card("NVIDIA A40", bdf="0000:21:00.0")
    other = card("NVIDIA A40", bdf="0000:41:00.0")
    assert set(Gpus(samples=(one, other)).by_gpu()) == {"0 (0000:21:00.0)", "0 (0000:41:00.0)"}


def test_spellings_and_cut_names_of_one_product_are_one_card() -> None:
    looks = (
        card("NVIDIA RTX 6000 Ada Generation"),
        card("NVIDIA RTX 6000 Ada Gene..."),
        card("RTX 6000 Ada Generation"),
    )
    gpus = Gpus(samples=looks)
    assert gpus.mixed == ""
    assert len(gpus.cards()) == 1


def test_a_pair_joined_in_two_ways_is_of_two_machines() -> None:
    def pair(word: str) -> Topology:
        return Topology(gpus=("GPU0", "GPU1"), links=(Pair(a="GPU0", b="GPU1", word=word),))

    assert "PHB and NV4" in pair("PHB").merged(pair("NV4")).mixed
    assert pair("PHB").merged(pair("PHB")).mixed == ""


def test_a_rule_that_needs_mixed_facts_is_left_open() -> None:
    said = judge_one(needs_the_machine, known(EPYC, XEON), {})
    assert isinstance(said, Unchecked)
    assert "different machines" in said.why


def test_what_a_rule_may_do_without_is_kept_from_it_when_mixed() -> None:
    gpus = Gpus(samples=(card("NVIDIA A40"),))
    said = judge_one(likes_the_machine, known(EPYC, XEON, gpus), {})
    assert isinstance(said, RuledOut)
    assert said.why == "1 cards, no cores"


def test_cards_that_are_kept_apart_are_judged_by_themselves() -> None:
    gpus = Gpus(samples=(card("NVIDIA GeForce RTX 3090"), card("NVIDIA GeForce RTX 4090")))
    said = judge_one(likes_the_machine, known(EPYC, gpus), {})
    assert not isinstance(said, Confirmed | Unchecked)
    assert said.why == "2 cards, no cores"
