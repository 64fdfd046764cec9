"""PCI: addresses, rates, and looks at one bus that complete each other."""

import pytest

from tools.linux.pci import PciDevice, PciLinks, full_bdf, link_gen
from tools.probes.pcie_links import ReadPcieLinks


@pytest.mark.parametrize(
    "text", ["PCI:0000:9c:00", "0000:9c:00", "9c:00", "9C:00.0", "00000000:9C:00.0", " 9c:00.0 "]
)
def test_an_address_is_one_however_it_was_written(text: str) -> None:
    assert full_bdf(text) == "0000:9c:00.0"


@pytest.mark.parametrize("text", ["", "9c", "9c:00.8", "x9c:00.0", "9c:00.0.1"])
def test_what_is_no_address_is_none(text: str) -> None:
    assert full_bdf(text) is None


def test_a_domain_is_kept() -> None:
    assert full_bdf("10000:01:00.0") == "10000:01:00.0"
    assert full_bdf("00000009:01:00.0") == "0009:01:00.0"


@pytest.mark.parametrize(("text", "gen"), [
    ("2.5 GT/s", 1), ("5 GT/s", 2), ("5.0 GT/s PCIe", 2), ("8GT/s", 3), ("16.0 GT/s PCIe", 4), ("32GT/s (downgraded)", 5),
    ("64.0 GT/s PCIe", 6), ("Unknown speed", None), ("Unknown", None), ("unknown", None), ("3 GT/s", None),
])  # fmt: skip
def test_both_spellings_of_a_rate_are_read(text: str, gen: int | None) -> None:
    assert link_gen(text) == gen


def test_a_tree_and_a_list_complete_each_other() -> None:
    tree = "-[0000:00]-+-00.0\n           \\-01.1-[01]----00.0\n"
    listed = (
        "00:01.1 PCI bridge: Advanced Micro Devices, Inc. [AMD] Device 14db\n"
        "\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM L1\n\t\tLnkSta:\tSpeed 2.5GT/s, Width x16\n"
        "01:00.0 VGA compatible controller: NVIDIA Corporation GB202 [GeForce RTX 5090]\n"
    )
    probe = ReadPcieLinks()
    for one, other in ((tree, listed), (listed, tree)):
        links = probe.parse(one).merged(probe.parse(other))
        path = links.path("0000:01:00.0")
        assert [device.bdf for device in path] == ["0000:01:00.0", "0000:00:01.1"]
        assert path[0].gpu
        assert path[1].port == "root_port"
        assert path[1].link_gen == 1


def test_a_port_that_is_known_closely_stays_so() -> None:
    exact, vague = (PciDevice(bdf="a", port=port) for port in ("upstream", "bridge"))
    assert exact.merged(vague).port == vague.merged(exact).port == "upstream"


def test_access_that_one_look_had_is_had() -> None:
    seen, denied = PciDevice(bdf="a", link_gen=4), PciDevice(bdf="a", access_denied=True)
    assert (
        not PciLinks(devices=(denied,)).merged(PciLinks(devices=(seen,))).devices[0].access_denied
    )


def test_several_fragments_without_addresses_are_several_devices() -> None:
    text = "".join(
        f"\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16\n\t\tLnkSta:\tSpeed {gt}GT/s, Width x16\n"
        for gt in ("2.5", "16")
    )
    links = ReadPcieLinks().parse(text)
    assert [(device.bdf, device.link_gen, device.gpu) for device in links.devices] == [
        ("unknown-1", 1, False),
        ("unknown-2", 4, False),
    ]


def test_a_path_before_the_address_names_the_ports_above() -> None:
    links = ReadPcieLinks().parse(
        "00:01.0/01:00.0 VGA compatible controller: NVIDIA Corporation GA102 (rev a1)\n"
    )
    assert links.devices[0].parent == "0000:00:01.0"


def test_two_roots_of_one_tree_keep_their_domains() -> None:
    tree = "-+-[0000:80]-+-01.1-[81]----00.0  NVIDIA Corporation GH100\n \\-[0001:00]---01.1-[01]----00.0  NVIDIA Corporation GH100\n"
    assert [gpu.bdf for gpu in ReadPcieLinks().parse(tree).gpus()] == [
        "0000:81:00.0",
        "0001:01:00.0",
    ]
