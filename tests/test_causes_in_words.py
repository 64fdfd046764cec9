"""The ids of causes as people read them."""

from __future__ import annotations

import pytest

from tools.knowledge import CAUSES, in_words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pcie_gen_low_under_load", "PCIe Gen low under load"),
        ("hw_power_brake", "hardware power brake"),
        ("cuda_graph_bs_exceeded", "CUDA graph batch size exceeded"),
        ("unreachable", "unreachable"),
    ],
)
def test_what_is_an_abbreviation_is_written_as_one(name: str, words: str) -> None:
    assert in_words(name) == words


def test_no_two_causes_read_the_same() -> None:
    assert len({in_words(name) for name in CAUSES}) == len(CAUSES)
