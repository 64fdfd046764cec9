"""Copies between host and GPU against what the link can carry."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tools.engine import Launch
from tools.errors import Undecided
from tools.nvidia.gpus import Gpus, GpuSample
from tools.nvidia.topology import HostRate, Pair, Topology
from tools.rule import Cleared, Finding
from tools.rules.host_copies import copies_slower_than_the_link

Judged = Callable[..., object]
GEN4 = Gpus(
    samples=tuple(GpuSample(index=n, link_gen=1, link_gen_max=4, link_width=16) for n in (0, 1))
)
TP2 = Launch(flags={"tp_size": 2})


def measured(*rates: float, name: str | None = None) -> Topology:
    return Topology(
        host_rates=tuple(
            HostRate(gpu=n, gb_s=r, to_gpu=True, name=name) for n, r in enumerate(rates)
        )
    )


def test_a_card_that_copies_as_over_gen_1_has_a_slow_link(judged: Judged) -> None:
    found = judged(copies_slower_than_the_link, measured(25.9, 3.2), GEN4, TP2)
    assert isinstance(found, Finding)
    assert "GPU 1 reach 3.2 GB/s, as over Gen1 x16" in found.statement
    assert found.quotes == ("GPU 1: 3.2 GB/s between host and GPU; Gen4 x16",)
    assert found.effect.prefill_pct is not None


def test_copies_at_the_rate_of_the_link_clear_it_although_it_reads_gen_1_at_rest(
    judged: Judged,
) -> None:
    assert isinstance(judged(copies_slower_than_the_link, measured(25.9, 26.0), GEN4), Cleared)


def test_half_the_rate_may_be_a_remote_socket(judged: Judged) -> None:
    with pytest.raises(Undecided, match="less than a generation"):
        judged(copies_slower_than_the_link, measured(25.9, 13.0), GEN4)


def test_without_a_look_at_the_links_it_is_less_sure(judged: Judged) -> None:
    found = judged(copies_slower_than_the_link, measured(26.3, 3.2, name="NVIDIA RTX A6000"))
    assert isinstance(found, Finding)
    assert found.confidence < 0.7
    assert "Fewer lanes would show the same" in found.statement
    with pytest.raises(Undecided, match="is not told"):
        judged(copies_slower_than_the_link, measured(3.3, 3.2, name="NVIDIA RTX A6000"))


def test_a_matrix_alone_is_no_measurement(judged: Judged) -> None:
    with pytest.raises(Undecided, match=r"^$"):
        judged(copies_slower_than_the_link, Topology(links=(Pair(a="GPU0", b="GPU1", word="SYS"),)))
