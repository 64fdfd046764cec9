"""What of the GPUs and of what joins them bears on speed; links count under load alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from statistics import median

from tools.comparison.trait import Term, Trait
from tools.knowledge.gpus import gpu_named
from tools.linux.pci import PciLinks
from tools.nvidia.gpus import Gpus, GpuSample
from tools.nvidia.topology import Nvlinks, Topology
from tools.physics.seen import Get
from tools.rule import Where

Read = Callable[[GpuSample], float | None]

# Figures at work: name, reading, unit, share within which two cards are the same, term, causes.
# SM clocks of two boards of one product differ by a few steps of 15 MHz, power by 10 % with the silicon.
_AT_WORK: tuple[tuple[str, Read, str, float, Term | None, tuple[str, ...]], ...] = (
    ("SM clock at work", lambda one: one.sm_mhz, "MHz", 0.05, None, ("clocks_locked",)),
    ("memory clock at work", lambda one: one.mem_mhz, "MHz", 0.02, "memory_clock", ("mem_clock_low",)),
)  # fmt: skip
_OF_A_LINK = (
    "pcie_gen_low_under_load",
    "pcie_width_narrow",
    "pcie_reset_downtrain",
    "pcie_bifurcation_by_design",
)
_THROTTLED = (
    "sw_thermal_slowdown",
    "hw_thermal_slowdown",
    "hw_power_brake",
    "power_cap_low",
    "laptop_ec_power",
)


def hardware(get: Get) -> Iterator[Trait]:
    """Yield what is known of the cards, their links, and the paths between them."""
    if gpus := get(Gpus):
        yield from _cards(gpus)
        yield from _links(gpus)
        yield from _at_work(gpus)
    if topology := get(Topology):
        yield from _paths(topology)
    if nvlinks := get(Nvlinks):
        up = Counter(gpu for (gpu, _), active in nvlinks.active().items() if active)
        shown = _span(up.values()) if up else "none"
        causes = ("nvlink_inactive", "nvlink_errors")
        yield Trait(
            "NVLinks of a GPU", shown, "hardware", weight=6, causes=causes, shown_by=(nvlinks,)
        )
    if links := get(PciLinks):
        yield from _slots(links)


def _cards(gpus: Gpus) -> Iterator[Trait]:
    by = (gpus,)
    if gpus.names:
        products = Counter(
            known.name if (known := gpu_named(name)) else name.removeprefix("NVIDIA ")
            for name in gpus.names
        )
        shown = ", ".join(f"{count}x {name}" for name, count in sorted(products.items()))
        yield Trait("GPUs", shown, "hardware", weight=9, term="gpu", shown_by=by)
    if gpus.driver:
        causes = ("driver_mismatch",)
        yield Trait("driver", gpus.driver, "hardware", weight=3, causes=causes, shown_by=by)
    cards = gpus.cards()
    yield from _usual(
        "memory of a GPU", (one.mem_total_mib for one in cards), "MiB", 0.02, by, weight=5
    )
    yield from _usual(
        "power limit", (one.power_limit_w for one in cards), "W", 0.01, by,
        weight=5, term="power", causes=("power_cap_low",),
    )  # fmt: skip
    switches = {"ECC": "ecc_on_gddr6", "MIG": "mig_slice"}
    for (name, cause), told in zip(
        switches.items(), ({one.ecc_on for one in cards}, {one.mig for one in cards}), strict=True
    ):
        if len(states := told - {None}) == 1:
            yield _on(name, gpus, cause, on=True in states)
    if gpus.cc_on is not None:
        yield _on("confidential computing", gpus, "cc_mode_host_sync", on=gpus.cc_on)


def _links(gpus: Gpus) -> Iterator[Trait]:
    busy = Counter(link for one in gpus.busy() if (link := _link(one.link_gen, one.link_width)))
    if busy:
        worked = Where(gpus, lambda look: bool(look.busy()))
        yield Trait(
            "link under load", ", ".join(sorted(busy)), "hardware",
            weight=8, term="link", causes=_OF_A_LINK, shown_by=(worked,),
        )  # fmt: skip
    best = {_link(one.gen_possible, one.link_width_max or one.link_width) for one in gpus.cards()}
    if told := sorted(best - {""}):
        yield Trait(
            "link that card and slot can do",
            ", ".join(told),
            "hardware",
            weight=4,
            shown_by=(gpus,),
        )


def _link(gen: int | None, width: int | None) -> str:
    return f"Gen{gen} x{width}" if gen and width else ""


def _at_work(gpus: Gpus) -> Iterator[Trait]:
    busy = gpus.busy()
    worked = Where(gpus, lambda look: bool(look.busy()))
    for name, read, unit, slack, term, causes in _AT_WORK:
        yield from _usual(
            name, map(read, busy), unit, slack, (worked,), weight=4, term=term, causes=causes
        )
    told = [one.reasons for one in busy if one.reasons is not None]
    if told:
        held = Counter(reason for reasons in told for reason in reasons)
        most = sorted(reason for reason, count in held.items() if count * 2 > len(told))
        yield Trait(
            "clocks held back by", ", ".join(most) or "nothing", "hardware",
            weight=5, causes=_THROTTLED, shown_by=(worked,),
        )  # fmt: skip


def _paths(topology: Topology) -> Iterator[Trait]:
    by = (topology,)
    if words := topology.words():
        shown = ", ".join(sorted(words))
        causes = ("tp_on_slow_link", "nvlink_inactive")
        yield Trait("paths between GPUs", shown, "hardware", weight=6, causes=causes, shown_by=by)
    if peers := {pair.word for pair in topology.p2p}:
        yield Trait(
            "peer access", ", ".join(sorted(peers)), "hardware",
            weight=7, term="peer", causes=("p2p_denied_by_driver", "p2p_cross_socket"), shown_by=by,
        )  # fmt: skip
    if nodes := {node for node in topology.numa.values() if node}:
        yield Trait(
            "NUMA nodes with GPUs", str(len(nodes)), "hardware",
            weight=3, causes=("numa_remote",), shown_by=by,
        )  # fmt: skip


def _slots(links: PciLinks) -> Iterator[Trait]:
    """Yield what the ports above the GPUs could do, and what stands in the way of peers."""
    ports = [port for gpu in links.gpus() for port in links.path(gpu.bdf)[1:]]
    able = Counter(link for port in ports if (link := _link(port.cap_gen, port.cap_width)))
    if able:
        shown = ", ".join(sorted(able))
        causes = ("pcie_upstream_bottleneck", "pcie_switch_arbitration")
        yield Trait(
            "ports above the GPUs", shown, "hardware", weight=3, causes=causes, shown_by=(links,)
        )
    told = {port.acs_redirects for port in ports} - {None}
    if told:
        yield _on("ACS redirects", links, "acs_redirect", on=True in told)


def _usual(
    name: str,
    values: Iterable[float | None],
    unit: str,
    slack: float,
    shown_by: tuple[Gpus | Where, ...],
    *,
    weight: int,
    term: Term | None = None,
    causes: tuple[str, ...] = (),
) -> Iterator[Trait]:
    told = [value for value in values if value is not None]
    if told:
        usual = median(told)
        yield Trait(
            name, f"{usual:,.0f} {unit}", "hardware", usual, slack,
            weight=weight, term=term, causes=causes, shown_by=shown_by,
        )  # fmt: skip


def _on(name: str, by: Gpus | PciLinks, cause: str, *, on: bool) -> Trait:
    shown = "on" if on else "off"
    return Trait(name, shown, "hardware", weight=4, causes=(cause,), shown_by=(by,))


def _span(values: Iterable[int]) -> str:
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low} to {high}"
