"""Memory channels without a module: where it counts, and where a slot is empty by design."""

from __future__ import annotations

import pytest

from tools.engine import Benchmark, Launch
from tools.errors import Undecided
from tools.linux.dmi import read_dmi
from tools.linux.machine import Machine
from tools.rule import Cleared, Finding
from tools.rules.memory_channels import a_channel_has_no_module

DEVICE = """Memory Device
\tSize: {size}
\tLocator: DIMM {slot}
\tBank Locator: P{socket} CHANNEL {channel}
\tType: DDR4
\tSpeed: 3200 MT/s
\tConfigured Memory Speed: 3200 MT/s

"""
EXPERTS = Launch(flags={"kt_weight_path": "/models/int4"})
STREAM = Benchmark(stream_triad_gb_s=69.8)


def board(channels="ABCDEFGH", without="", slots=1, sockets=1, fitted=(0,)):
    text = "".join(
        DEVICE.format(
            slot=slot,
            socket=socket,
            channel=channel,
            size="32 GB"
            if slot == 0 and channel not in without and socket in fitted
            else "No Module Installed",
        )
        for socket in range(sockets)
        for channel in channels
        for slot in range(slots)
    )
    return Machine(**read_dmi(text))


def test_one_empty_channel_under_experts_in_host_memory_is_named(judged):
    found = judged(a_channel_has_no_module, board(without="H"), EXPERTS, STREAM)
    assert isinstance(found, Finding)
    assert "P0 CHANNEL H has no module" in found.statement
    assert found.effect.decode_pct == (-37.5, -25.0, -12.5)


def test_two_slots_a_channel_leave_slots_empty_by_design(judged):
    machine = board(slots=2)
    assert machine.dimm_slots == 16
    assert machine.dimms == 8
    assert isinstance(judged(a_channel_has_no_module, machine, EXPERTS, STREAM), Cleared)


def test_channels_of_a_socket_without_memory_do_not_count(judged):
    assert board(sockets=2).channels_empty == ()


def test_weights_in_video_memory_do_not_read_the_host_s(judged):
    assert isinstance(judged(a_channel_has_no_module, board(without="H"), STREAM), Cleared)


def test_without_a_measured_rate_it_is_left_open(judged):
    with pytest.raises(Undecided, match="was not measured"):
        judged(a_channel_has_no_module, board(without="GH"), EXPERTS)
