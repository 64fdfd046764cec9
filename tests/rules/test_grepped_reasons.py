"""Clock reasons that a grep left without the line that opens their section."""

from __future__ import annotations

from tools.nvidia.any_report import read_gpus
from tools.nvidia.gpus import Gpus
from tools.rule import Cleared, Finding
from tools.rules.heat import hardware_slows_for_heat

CARD = """GPU 0000000{n}:00:00.0
        SW Power Cap                      : Not Active
        HW Slowdown                       : {hot}
            HW Thermal Slowdown           : {hot}
            HW Power Brake Slowdown       : Not Active
"""


def node(*hot, of=8):
    cards = (CARD.format(n=n, hot="Active" if n in hot else "Not Active") for n in range(1, of + 1))
    return read_gpus("".join(cards))


def test_reasons_are_read_without_their_section():
    told = node(6).samples
    assert told[5].reasons == {"hw_slowdown", "hw_thermal_slowdown"}
    assert told[4].reasons == frozenset()


def test_counters_of_a_grep_are_no_reasons():
    assert read_gpus("        SW Power Capping     : 0 us\n        HW Slowdown : Active\n").samples[
        0
    ].reasons == {"hw_slowdown"}


def test_the_hot_one_of_two_nodes_is_named_and_counted_by_itself(judged):
    found = judged(hardware_slows_for_heat, Gpus.united((node(), node(6))))
    assert isinstance(found, Finding)
    assert found.statement == "The hardware slows GPU 0006:00:00.0 for heat."
    assert found.quotes == ("hw_thermal_slowdown in 1 of 2 samples",)


def test_no_active_reason_clears_it(judged):
    assert isinstance(judged(hardware_slows_for_heat, node()), Cleared)
