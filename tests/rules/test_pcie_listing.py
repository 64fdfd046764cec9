"""A bus listing against what the links carried, and against what happened before it."""

from __future__ import annotations

import pytest

from tools.errors import Undecided
from tools.linux.kernel import KernelLog
from tools.linux.kernel_log import read_kernel_log
from tools.linux.pci import PciDevice, PciLinks
from tools.nvidia.topology import PairRate, Topology
from tools.rule import Cleared
from tools.rules.pcie_listing import (
    copies_outrun_the_listing,
    link_slower_in_the_bus_listing,
    reset_before_the_link_was_low,
)

RESET = "[  301.3] vfio-pci 0000:01:00.0: resetting\n[  301.4] vfio-pci 0000:01:00.0: reset done\n"


def listed(gen=1, width=16):
    card = PciDevice(
        bdf="0000:01:00.0",
        gpu=True,
        port="endpoint",
        link_gen=gen,
        cap_gen=4,
        link_width=width,
        cap_width=16,
    )
    return PciLinks(devices=(card,))


def copies(gb_s, *, both_ways=False):
    return Topology(rates=(PairRate(a="GPU0", b="GPU1", gb_s=gb_s, both_ways=both_ways),))


@pytest.mark.parametrize("rate", [copies(20.3), copies(40.1, both_ways=True)])
def test_a_copy_that_such_a_link_cannot_carry_proves_it_was_at_rest(judged, rate):
    assert judged(copies_outrun_the_listing, listed(), rate).benign
    assert isinstance(judged(link_slower_in_the_bus_listing, listed(), rate), Cleared)


@pytest.mark.parametrize("rate", [copies(3.1), copies(6.2, both_ways=True), Topology()])
def test_a_copy_as_slow_as_the_listing_leaves_it_open(judged, rate):
    assert judged(copies_outrun_the_listing, listed(), rate) is None
    with pytest.raises(Undecided):
        judged(link_slower_in_the_bus_listing, listed(), rate)


def test_a_reset_for_a_guest_before_a_narrow_link_is_a_doubt(judged):
    kernel = read_kernel_log(RESET)
    assert kernel.vfio_resets == ("0000:01:00.0",)
    with pytest.raises(Undecided, match="VFIO has reset"):
        judged(reset_before_the_link_was_low, listed(gen=4, width=8), kernel)
    assert isinstance(judged(reset_before_the_link_was_low, listed(gen=4), kernel), Cleared)
    assert judged(reset_before_the_link_was_low, listed(), KernelLog()) is None
