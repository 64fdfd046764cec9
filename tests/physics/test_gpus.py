"""A GPU is known by the name that NVML prints, and only where the name is sure."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tools.knowledge.gpus import all_gpus, gpu_named
from tools.knowledge.links import pcie_gb_s


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("NVIDIA RTX A6000", "RTX A6000"),
        ("RTX A6000", "RTX A6000"),
        ("NVIDIA RTX A4000", "RTX A4000"),
        ("NVIDIA A40", "A40"),
        ("NVIDIA A10G", "A10G (AWS g5)"),
        ("NVIDIA GeForce RTX 3090", "GeForce RTX 3090"),
        ("NVIDIA GeForce RTX 3090 Ti", "GeForce RTX 3090 Ti"),
        ("NVIDIA GeForce RTX 4090 D", "GeForce RTX 4090 D"),
        ("NVIDIA GeForce RTX 4080 SUPER", "GeForce RTX 4080 SUPER"),
        ("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "RTX PRO 6000 Blackwell Workstation"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX PRO 6000 Blackwell Server"),
        ("NVIDIA A100-SXM4-80GB", "A100 80GB SXM"),
        ("NVIDIA A100 80GB PCIe", "A100 80GB PCIe"),
        ("Tesla V100-SXM2-32GB", "Tesla V100 SXM2"),
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        ("NVIDIA H100 NVL", "H100 NVL"),
        ("NVIDIA H200", "H200 SXM"),
        ("NVIDIA H200 NVL", "H200 NVL"),
        ("NVIDIA H20", "H20 96GB"),
        ("NVIDIA B200", "B200 SXM"),
        ("NVIDIA L40S", "L40S"),
        ("NVIDIA L4", "L4"),
    ],
)
def test_a_name_as_it_is_printed_finds_its_product(printed: str, name: str) -> None:
    gpu = gpu_named(printed)
    assert gpu
    assert gpu.name == name


@pytest.mark.parametrize(
    "printed",
    [
        "NVIDIA GeForce RTX 3090 Laptop GPU",
        "NVIDIA GeForce RTX 3080 Ti",
        "NVIDIA GeForce RTX 3070 Ti",
        "NVIDIA L40S-24Q",
        "NVIDIA H20-3e",
        "NVIDIA A100-SXM4-80GB MIG 1g.10gb",
        "NVIDIA RTX PRO 6000 Blac...",
        "NVIDIA RTX 5880 Ada Generation",
        "GeForce GTX 1080 Ti",
        "",
    ],
)
def test_another_product_than_the_name_begins_with_is_not_known(printed: str) -> None:
    assert gpu_named(printed) is None


def test_every_product_is_found_by_its_own_pattern_and_names_its_sources() -> None:
    gpus = all_gpus()
    assert len(gpus) == 58
    assert len({gpu.name for gpu in gpus}) == 58
    for gpu in gpus:
        assert gpu_named(f"NVIDIA {gpu.pattern}") is gpu
        assert gpu.sources
        assert 0.5 <= gpu.decode_fraction <= 0.95
        assert 0.2 <= gpu.prefill_mfu <= 0.85
        assert gpu.tflops


def test_a_lane_doubles_with_each_generation_and_an_unknown_one_is_not_guessed() -> None:
    assert pcie_gb_s(1, 16) == 4.0
    rates = [pcie_gb_s(gen, 1) or 0.0 for gen in range(1, 6)]
    assert all(1.9 < fast / slow <= 2.01 for slow, fast in pairwise(rates))
    assert pcie_gb_s(9, 16) is None
