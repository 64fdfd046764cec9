"""Who falls behind its twins is named, with how many they are; who merely differs is not."""

from __future__ import annotations

from bot.health.looked import Looked
from bot.health.summary import Past, summarise
from bot.health.twins import behind
from tools.vitals.vitals import Reading, Setting, Vitals


def host(name, decode, *, gpus=("RTX A6000",), load="1 running"):
    setting = Setting(engine="sglang", version="0.5.11", model="qwen3.6-27b", gpus=gpus)
    vitals = Vitals(setting=setting, figures={"decode": Reading(value=decode, load=load)})
    return Looked(host=name, at=0.0, state="seen", vitals=vitals)


TWINS = [host("CT130", 55.0), host("CT131", 55.6), host("CT132", 54.6)]


def test_a_host_slower_than_its_twins_is_named_with_their_number_and_rate():
    [slow] = behind([*TWINS, host("CT129", 48.4)])["CT129"]
    assert slow.told("CT129") == (
        "CT129 decodes 12 % slower than its 3 twins: 48.4 tok/s, theirs 55.0 tok/s."
    )


def test_it_needs_somebody_is_new_once_and_may_be_known():
    today = [*TWINS, host("CT129", 48.4)]
    [item] = summarise("2026-11-30", today, {}).items
    assert (item.host, item.course, round(item.cost_pct)) == ("CT129", "first", 12)
    was = {"CT129": Past([("2026-11-29", host("CT129", 48.0))])}
    assert summarise("2026-11-30", today, was).items[0].course == "known"
    fast = {"CT129": Past([("2026-11-29", host("CT129", 55.0))])}
    assert summarise("2026-11-30", today, fast).items[0].course == "new"
    known = {"CT129": Past((), frozenset(item.names))}
    assert summarise("2026-11-30", today, known).quiet == 1


def test_another_figure_than_the_rate_is_told_as_a_sentence():
    def linked(name, gb_s):
        figures = {"link": Reading(value=gb_s)}
        whole = host(name, 55.0).vitals
        return Looked(
            host=name, at=0.0, state="seen", vitals=whole.model_copy(update={"figures": figures})
        )

    [slow] = behind([*(linked(f"CT13{n}", 55.0) for n in range(3)), linked("CT129", 13.8)])["CT129"]
    assert slow.told("CT129") == (
        "On CT129 the slowest PCIe link under load is 75 % below that of its 3 twins:"
        " 13.8 GB/s, theirs 55.0 GB/s."
    )


def test_within_the_floor_or_within_what_twins_differ_by_nobody_is_behind():
    assert behind([*TWINS, host("CT129", 53.4)]) == {}
    wide = [host("a", 40.0), host("b", 55.0), host("c", 70.0)]
    assert behind([*wide, host("CT129", 36.0)]) == {}


def test_one_other_host_other_gpus_and_another_load_are_no_twins():
    assert behind([TWINS[0], host("CT129", 30.0)]) == {}
    assert behind([*TWINS, host("CT129", 30.0, gpus=("RTX 4090",))]) == {}
    assert behind([*TWINS, host("CT129", 30.0, load="8 running")]) == {}


def test_two_of_forty_that_are_slow_are_both_named():
    many = [host(f"CT{n}", 55.0 + n % 5 / 10) for n in range(38)]
    found = behind([*many, host("CT50", 48.0), host("CT51", 48.2)])
    assert set(found) == {"CT50", "CT51"}
    assert found["CT50"][0].twins == 39
