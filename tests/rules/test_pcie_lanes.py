"""Lanes: too few, few by design, and few further up."""

from __future__ import annotations

import pytest

from tools.engine import Launch
from tools.errors import Undecided
from tools.linux.pci import PciDevice, PciLinks
from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Cleared, Finding
from tools.rules.pcie_lanes import (
    board_splits_the_lanes,
    link_narrower_in_the_bus_listing,
    link_narrower_than_it_should_be,
)
from tools.rules.pcie_upstream import narrower_further_up

GPU, ROOT = "0000:01:00.0", "0000:00:01.0"
NAME = "NVIDIA GeForce RTX 3090"
TP2 = Launch(flags={"tp_size": 2})


def sample(width, index=0, bdf=GPU, util=99, best=16, **more):
    return GpuSample(
        index=index, bdf=bdf, name=NAME, link_width=width, link_width_max=best, link_gen=4,
        util_pct=util, pstate=2, **more,
    )  # fmt: skip


def behind(port_width, link_width=8):
    return PciLinks(
        devices=(
            PciDevice(
                bdf=GPU, gpu=True, parent=ROOT, cap_width=16, cap_gen=4, link_width=link_width
            ),
            PciDevice(
                bdf=ROOT, port="root_port", cap_width=port_width, cap_gen=5, link_width=link_width
            ),
        ),
        siblings={"0000:00:01.1": "NVMe controller"},
    )


def both_behind(*port_widths):
    """Two cards whose samples tell no address, each below a port of its own."""
    devices = []
    for number, width in enumerate(port_widths):
        card, port = f"0000:0{number + 1}:00.0", f"0000:00:01.{number}"
        devices += [
            PciDevice(bdf=card, gpu=True, parent=port, cap_width=16, link_width=8),
            PciDevice(bdf=port, port="root_port", cap_width=width, cap_gen=5, link_width=8),
        ]
    return PciLinks(devices=tuple(devices))


TWO = Gpus(samples=(sample(8, 0, bdf=None), sample(8, 1, bdf=None)))


def test_cards_without_an_address_are_split_where_all_ports_are_alike(judged):
    assert isinstance(judged(link_narrower_than_it_should_be, TWO, both_behind(8, 8)), Cleared)
    found = judged(board_splits_the_lanes, TWO, both_behind(8, 8))
    assert found.benign
    assert found.statement == "GPUs 0, 1 have x8 because their root ports offer no more."


@pytest.mark.parametrize("ports", [(8,), (8, 16), (8, 8, 8)])
def test_cards_without_an_address_and_unlike_ports_decide_nothing(judged, ports):
    with pytest.raises(Undecided):
        judged(link_narrower_than_it_should_be, TWO, both_behind(*ports))


@pytest.mark.parametrize(("width", "kind"), [(8, Cleared), (4, Finding), (1, Finding)])
def test_a_quarter_of_the_lanes_is_the_wrong_slot_and_no_split(judged, width, kind):
    one = Gpus(samples=(sample(width),))
    said = judged(link_narrower_than_it_should_be, one, behind(width, width), TP2)
    assert isinstance(said, kind)
    if kind is Finding:
        assert f"a slot that gives x{width}" in said.statement
        assert said.effect.prefill_pct[1] < -20


def test_a_port_with_more_lanes_than_the_link_proves_it_narrow(judged):
    found = judged(link_narrower_than_it_should_be, Gpus(samples=(sample(8),)), behind(16), TP2)
    assert isinstance(found, Finding)
    assert found.effect.prefill_pct[1] < -10
    assert found.effect.times_slower == 2.0


def test_a_port_without_more_lanes_is_the_boards_design(judged):
    gpus = Gpus(samples=(sample(8),))
    assert isinstance(judged(link_narrower_than_it_should_be, gpus, behind(8)), Cleared)
    found = judged(board_splits_the_lanes, behind(8), gpus)
    assert found.benign
    assert "NVMe" in found.statement


def test_four_lanes_of_sixteen_are_no_split_in_two(judged):
    assert judged(board_splits_the_lanes, behind(4, 4), Gpus(samples=(sample(4),))) is None


def test_an_unknown_port_leaves_the_width_open(judged):
    with pytest.raises(Undecided):
        judged(link_narrower_than_it_should_be, Gpus(samples=(sample(8),)))


def test_a_peer_with_more_lanes_at_work_proves_it(judged):
    uneven = Gpus(samples=(sample(4), sample(8, index=1, bdf="0000:0c:00.0")))
    assert "its peer has 8" in judged(link_narrower_than_it_should_be, uneven).statement


def test_a_peer_with_more_lanes_at_rest_does_not(judged):
    uneven = Gpus(samples=(sample(4, util=0), sample(8, index=1, bdf="0000:0c:00.0", util=0)))
    with pytest.raises(Undecided):
        judged(link_narrower_than_it_should_be, uneven)


def test_equal_halves_are_left_open(judged):
    even = Gpus(samples=(sample(8), sample(8, index=1, bdf="0000:0c:00.0")))
    with pytest.raises(Undecided, match="same on every card"):
        judged(link_narrower_than_it_should_be, even)


def test_full_width_clears_it(judged):
    assert isinstance(judged(link_narrower_than_it_should_be, Gpus(samples=(sample(16),))), Cleared)


def test_readings_of_two_machines_decide_nothing(judged):
    mixed = Gpus(samples=(sample(16, link_gen_max=3), sample(4, link_gen_max=4)))
    with pytest.raises(Undecided, match="different machines"):
        judged(link_narrower_than_it_should_be, mixed)


def chain(uplink_width, name="PCI bridge", siblings=None):
    return PciLinks(
        devices=(
            PciDevice(bdf="0000:04:00.0", gpu=True, parent="0000:03:01.0", cap_gen=4, link_width=8),
            PciDevice(bdf="0000:03:01.0", parent="0000:02:00.0", cap_gen=4, link_width=8),
            PciDevice(bdf="0000:02:00.0", parent="0000:00:01.2", name=name, cap_gen=4, link_width=uplink_width),
            PciDevice(bdf="0000:00:01.2", cap_gen=4, link_width=uplink_width),
            PciDevice(bdf="0000:0c:00.0", gpu=True, parent="0000:00:03.1", cap_gen=4, link_width=8),
            PciDevice(bdf="0000:00:03.1", cap_gen=4, link_width=8),
            PciDevice(bdf="0000:05:00.0", parent="0000:03:01.0"),
        ),
        siblings=siblings or {},
    )  # fmt: skip


def test_a_narrower_port_above_is_the_bottleneck(judged):
    found = judged(narrower_further_up, chain(4), TP2)
    assert "0000:02:00.0" in found.statement
    assert found.confidence == 0.9


def test_an_equal_port_above_is_none(judged):
    assert isinstance(judged(narrower_further_up, chain(8)), Cleared)


def test_a_switch_with_a_network_card_is_a_chipset(judged):
    found = judged(
        narrower_further_up, chain(None, siblings={"0000:05:00.0": "I211 Gigabit Network"})
    )
    assert "chipset" in found.statement


def test_a_switch_with_gpus_alone_is_no_chipset(judged):
    with pytest.raises(Undecided):
        judged(narrower_further_up, chain(None))


def test_a_gpu_without_ports_above_is_left_open(judged):
    with pytest.raises(Undecided, match="not seen"):
        judged(narrower_further_up, PciLinks(devices=(PciDevice(bdf=GPU, gpu=True),)))


def test_the_listing_alone_proves_a_narrow_link_by_its_port(judged):
    assert isinstance(judged(link_narrower_in_the_bus_listing, behind(16)), Finding)
    assert isinstance(judged(link_narrower_in_the_bus_listing, behind(8)), Cleared)


def test_lanes_of_a_listing_are_priced_up_to_what_the_slot_carries(judged):
    two = judged(link_narrower_in_the_bus_listing, behind(16), TP2)
    assert two.effect.times_slower == 2.0
    assert judged(link_narrower_in_the_bus_listing, behind(8, 2), TP2).effect.times_slower == 4.0
    one = judged(link_narrower_in_the_bus_listing, behind(16), Launch(flags={"tp_size": 1}))
    assert one.slows == {"start"}
    assert one.effect.times_slower is None
    assert judged(link_narrower_in_the_bus_listing, behind(16)).effect.prefill_pct is None


def test_the_listing_without_a_port_leaves_it_open(judged):
    alone = PciLinks(devices=(PciDevice(bdf=GPU, gpu=True, cap_width=16, link_width=8),))
    with pytest.raises(Undecided):
        judged(link_narrower_in_the_bus_listing, alone)


def test_samples_judge_the_width_where_there_are_any(judged):
    assert judged(link_narrower_in_the_bus_listing, behind(16), Gpus(samples=(sample(16),))) is None


def test_uneven_widths_are_not_told_as_a_split_of_the_board(judged):
    cards = Gpus(
        samples=tuple(
            GpuSample(
                index=n,
                name="NVIDIA GeForce RTX 3090",
                link_width=w,
                link_width_max=16,
                util_pct=30,
                pstate=2,
            )
            for n, w in enumerate((8, 16, 4, 16))
        )
    )
    found = judged(link_narrower_than_it_should_be, cards)
    assert "GPU 2 has 4 lanes" in found.statement
