"""RDMA ports: one slower than its like, and a network that loses packets; what looks like either."""

from __future__ import annotations

import pytest

from tools.engine import Notice, ServerLog
from tools.errors import Undecided
from tools.linux.kernel_log import read_kernel_log
from tools.linux.machine import Machine
from tools.linux.machine_text import read_machine_text
from tools.nvidia.nccl import AllReduceTest, NcclLog
from tools.rule import Cleared, Finding
from tools.rules.rdma_ports import a_port_goes_down, network_loses_packets, one_port_is_slower

PORT = """CA 'mlx5_{n}'
\tCA type: {card}
\tNumber of ports: 1
\tPort 1:
\t\tState: {state}
\t\tPhysical state: LinkUp
\t\tRate: {rate}
\t\tLink layer: InfiniBand
"""
IN_USE = NcclLog(network="IB", paths={"NET/IB": 8})
TEST = AllReduceTest(busbw_gb_s={1 << 30: 47.6})


def node(*rates, cards=None, states=None):
    told = zip(rates, cards or ["MT4123"] * 9, states or ["Active"] * 9, strict=False)
    text = "".join(PORT.format(n=n, rate=r, card=c, state=s) for n, (r, c, s) in enumerate(told))
    return Machine(**read_machine_text(text))


def counters(*readings, name="out_of_sequence"):
    path = "/sys/class/infiniband/mlx5_0/ports/1/hw_counters"
    text = "".join(f"$ grep . {path}/*\n{path}/lifespan:10\n{path}/{name}:{n}\n" for n in readings)
    return Machine(**read_machine_text(text))


def test_the_slow_one_of_eight_ports_on_two_machines_is_named(judged):
    both = node(200, 200, 200, 200).merged(node(200, 200, 100, 200))
    found = judged(one_port_is_slower, both, IN_USE, TEST)
    assert isinstance(found, Finding)
    assert found.statement.startswith("Port mlx5_2/1 runs at 100 Gbit/s, others of its kind at 200")
    assert "48 GB/s" in found.statement
    assert found.effect.prefill_pct == (-50.0, -30.0, -10.0)


@pytest.mark.parametrize(
    "other",
    [
        {"cards": ["MT4123"] * 3 + ["MT4119"]},
        {"states": ["Active"] * 3 + ["Down"]},
    ],
    ids=["another kind of card", "a port that is down"],
)
def test_a_slower_port_that_is_not_of_their_kind_or_down_is_none(judged, other):
    machine = node(200, 200, 200, 40, **other)
    assert isinstance(judged(one_port_is_slower, machine, IN_USE), Cleared)


def test_two_rates_as_often_as_each_other_name_no_slow_one(judged):
    assert isinstance(judged(one_port_is_slower, node(200, 100), IN_USE), Cleared)


def test_a_slow_port_that_nobody_is_seen_to_use_is_left_open(judged):
    with pytest.raises(Undecided, match="is not told"):
        judged(one_port_is_slower, node(200, 200, 100))


def test_losses_between_two_readings_are_the_network_s(judged):
    found = judged(network_loses_packets, counters(18_211, 23_268))
    assert isinstance(found, Finding)
    assert "mlx5_0/1 out_of_sequence +5057" in found.statement
    assert "crash" not in found.slows


def test_requests_that_were_given_up_stop_the_ranks(judged):
    log = ServerLog(notices=(Notice(kind="watchdog", text="Watchdog timeout"),))
    lost = counters(0, 8, name="req_transport_retries_exceeded")
    found = judged(network_loses_packets, lost, log)
    assert "crash" in found.slows
    assert len(found.shown_by) == 2


@pytest.mark.parametrize(("readings", "why"), [((18_211,), "since the driver"), ((7, 19), "a few")])
def test_counts_since_load_and_a_handful_prove_nothing(judged, readings, why):
    with pytest.raises(Undecided, match=why):
        judged(network_loses_packets, counters(*readings))


def test_counts_that_stand_at_zero_clear_the_network(judged):
    assert isinstance(judged(network_loses_packets, counters(0, 0)), Cleared)


def test_readings_in_two_texts_may_be_of_two_machines(judged):
    both = counters(100).merged(counters(90_000))
    with pytest.raises(Undecided, match="since the driver"):
        judged(network_loses_packets, both)


def test_rdma_statistic_is_read_too():
    line = "link mlx5_0/1 rx_write_requests 991 out_of_sequence {n} packet_seq_err 3 \n"
    told = read_machine_text(line.format(n=5) + line.format(n=905))
    assert told["rdma_grown"] == {"mlx5_0/1 out_of_sequence": 900}


DOWN = "[{at:.6f}] infiniband mlx5_2: Port: 1 Link DOWN\n[{at:.6f}] infiniband mlx5_2: Port: 1 Link ACTIVE\n"
PORT_ERROR = NcclLog(errors=("net_ib.cc:93 NCCL WARN NET/IB : Got async event : port error",))


def test_a_port_that_goes_down_again_and_again_is_the_cable_s(judged):
    twice = read_kernel_log(DOWN.format(at=81204.1) + DOWN.format(at=81977.4))
    assert twice.ports_down == ("mlx5_2/1 81204.100000", "mlx5_2/1 81977.400000")
    found = judged(a_port_goes_down, twice)
    assert isinstance(found, Finding)
    assert found.confidence == 0.7
    assert judged(a_port_goes_down, twice, PORT_ERROR).confidence == 0.85


def test_once_counts_where_nccl_ends_by_it(judged):
    once = read_kernel_log(DOWN.format(at=81204.1))
    assert isinstance(judged(a_port_goes_down, once, PORT_ERROR), Finding)
    with pytest.raises(Undecided, match="somebody's hand"):
        judged(a_port_goes_down, once)


def test_a_port_that_only_comes_up_is_well(judged):
    up = read_kernel_log("[   12.1] infiniband mlx5_2: Port: 1 Link ACTIVE\n")
    assert isinstance(judged(a_port_goes_down, up), Cleared)
