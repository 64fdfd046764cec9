"""Copies that CUDA's own tests measured: nvbandwidth, bandwidthTest; what they say of links and peers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hostile_texts import ANYWHERE
from tools.errors import Absent
from tools.nvidia.gpus import Gpus, GpuSample
from tools.nvidia.host_copies import copy_readings
from tools.nvidia.nvbandwidth import is_nvbandwidth, read_nvbandwidth
from tools.nvidia.topology import HostRate, Topology
from tools.probes.topology import ReadTopology

GOLDEN = Path(__file__).parent.parent / "golden" / "ReadTopology"


def text(name: str) -> str:
    return (GOLDEN / f"{name}.out").read_text("utf-8")


def test_text_and_json_of_one_run_say_the_same() -> None:
    run = read_nvbandwidth(text("nvbandwidth_0_8_one_slow_card"))
    told = json.loads(text("nvbandwidth_0_6_json"))["nvbandwidth"]["testcases"]
    assert [rate.gb_s for rate in run.rates if not rate.both_ways] == [
        float(cell) for row in told[1]["bandwidth_matrix"] for cell in row if cell != "N/A"
    ]
    assert run.p2p == read_nvbandwidth(text("nvbandwidth_0_6_json")).p2p


def test_latencies_and_parts_of_a_sum_are_no_rates() -> None:
    run = read_nvbandwidth(text("nvbandwidth_0_8_one_slow_card"))
    assert {rate.gb_s for rate in run.rates if rate.both_ways} == {40.1, 40.12}
    assert max(rate.gb_s for rate in run.host_rates) == 26.34


def test_a_test_in_which_all_gpus_copy_at_once_tells_nothing_of_a_link() -> None:
    shared = text("nvbandwidth_0_8_one_slow_card").replace("host_to_device", "host_to_all")
    assert {rate.to_gpu for rate in read_nvbandwidth(shared).host_rates} == {False}


def test_a_pair_without_a_figure_has_no_peer_access() -> None:
    some = text("nvbandwidth_0_8_one_slow_card").replace("N/A     22.10", "N/A       N/A")
    assert [pair.word for pair in read_nvbandwidth(some).p2p] == ["OK"]  # the later test copied
    none = some.replace("     20.10", "       N/A").replace("     40.10", "       N/A")
    assert [pair.word for pair in read_nvbandwidth(none).p2p] == ["NS"]


def test_a_run_that_could_do_nothing_is_an_absence() -> None:
    with pytest.raises(Absent, match="ended without"):
        ReadTopology().parse("nvbandwidth Version: v0.8\nBuilt from Git version: v0.8\n")


@pytest.mark.parametrize("name", sorted(ANYWHERE))
def test_hostile_text_below_its_head_breaks_nothing(name: str) -> None:
    below = "nvbandwidth Version: v0.8\nRunning host_to_device_memcpy_ce.\n" + ANYWHERE[name].text()
    assert is_nvbandwidth(below)
    assert read_nvbandwidth(below).host_rates == ()
    assert read_nvbandwidth('{"nvbandwidth": ' + ANYWHERE[name].text()) == Topology()


def rate(gpu: int, gb_s: float, bdf: str | None = None, name: str | None = None) -> HostRate:
    return HostRate(gpu=gpu, bdf=bdf, name=name, gb_s=gb_s, to_gpu=True)


def test_a_card_is_found_by_its_address_as_cuda_counts_otherwise() -> None:
    gpus = Gpus(
        samples=tuple(
            GpuSample(index=n, bdf=bdf, link_gen_max=gen, link_width=16)
            for n, bdf, gen in ((0, "0000:01:00.0", 3), (1, "0000:e2:00.0", 4))
        )
    )
    topology = Topology(host_rates=(rate(0, 3.2, "0000:e2:00.0"),))
    (found,) = copy_readings(topology, gpus, {})
    assert (found.gpu, found.gen, found.slow, found.like_gen) == ("1", 4, True, 1)


def test_without_a_look_at_the_links_another_card_of_the_kind_is_the_measure() -> None:
    a6000 = "NVIDIA RTX A6000"
    alone = Topology(host_rates=(rate(0, 3.2, name=a6000),))
    beside = Topology(host_rates=(rate(0, 3.2, name=a6000), rate(1, 26.0, name=a6000)))
    other = Topology(host_rates=(rate(0, 3.2, name=a6000), rate(1, 50.0, name="NVIDIA H100 PCIe")))
    assert copy_readings(alone, None, {}) == ()
    assert [one.slow for one in copy_readings(beside, None, {})] == [True, False]
    assert [one.gpu for one in copy_readings(other, None, {})] == ["1"]
