"""Lanes of the GPUs' PCIe links: too few, or few by design of the board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tools.engine import Launch, ServerInfo, ServerLog
from tools.engine.parallel import tp_size
from tools.errors import Undecided
from tools.linux.link_caps import cards as listed_cards
from tools.linux.pci import PciDevice, PciLinks
from tools.nvidia.gpus import Gpus
from tools.nvidia.width_reading import WidthReading, width_readings
from tools.rule import Cleared, Effect, Finding, Outcome, rule

_SETTLE = (
    "Under load: nvidia-smi --query-gpu=index,pci.bus_id,pstate,utilization.gpu,"
    "pcie.link.width.current,pcie.link.width.max --format=csv; then sudo lspci -vv of the root port"
    " above (LnkCap, LnkSta)"
)


def _root_port(links: PciLinks | None, bdf: str | None) -> PciDevice | None:
    """Return the port right above a card."""
    path = links.path(bdf) if links and bdf else ()
    return path[1] if len(path) > 1 else None


def _port_of(links: PciLinks | None, card: WidthReading, cards: int) -> PciDevice | None:
    """Return the port above a card.

    Of cards that tell no address it can be said where as many GPUs are listed, all below ports alike.
    """
    if card.bdf:
        return _root_port(links, card.bdf)
    ports = [_root_port(links, gpu.bdf) for gpu in (links.gpus() if links else ())]
    alike = len({(port.cap_width, port.cap_gen) for port in ports if port}) == 1
    return ports[0] if len(ports) == cards and None not in ports and alike else None


@rule(cause="pcie_width_narrow")
def link_narrower_than_it_should_be(
    gpus: Gpus,
    links: PciLinks | None,
    launch: Launch | None,
    log: ServerLog | None,
    info: ServerInfo | None,
) -> Outcome:
    """A GPU's PCIe link has fewer lanes than the card and its slot carry."""
    cards = width_readings(gpus)
    narrow = [card for card in cards if card.best and card.width < card.best]
    if not cards:
        raise Undecided("no look tells a link's width", settle=_SETTLE, suspicion=0.05)
    if not narrow:
        if all(card.best for card in cards):
            return Cleared("every link has its full width")
        raise Undecided("the possible width is not told", settle=_SETTLE, suspicion=0.05)
    if any(card.mixed for card in cards):
        raise Undecided("the readings are of different machines or moments", suspicion=0.05)
    ports = {card.gpu: _port_of(links, card, len(cards)) for card in narrow}
    given = [card for card in narrow if not _split(ports[card.gpu], card)]
    if not given:
        return Cleared("the root port itself offers no more lanes: the board splits them so")
    return _judge_narrow(cards, given, ports, tp_size(launch, log, info))


def _offers_no_more(port: PciDevice | None, card: WidthReading) -> bool:
    return port is not None and port.cap_width is not None and port.cap_width <= card.width


def _split(port: PciDevice | None, card: WidthReading) -> bool:
    """Say whether a board halves the lanes of a slot; x4 and x1 are no half: a slot of the chipset."""
    return _offers_no_more(port, card) and card.width * 2 >= card.best


def _judge_narrow(
    cards: Sequence[WidthReading],
    narrow: Sequence[WidthReading],
    ports: Mapping[str, PciDevice | None],
    tp: int | None,
) -> Finding:
    widest = max(card.width for card in cards)
    worst = min(narrow, key=lambda card: card.width)
    port = ports[worst.gpu]
    if port is not None and _offers_no_more(port, worst):
        return _wrong_slot(narrow, worst, port, tp)
    wide_port = port is not None and (port.cap_width or 0) > worst.width
    uneven = worst.width < widest and worst.busy and len({card.name for card in cards}) == 1
    quotes = tuple(f"GPU {card.gpu}: width {card.width} of {card.best}" for card in narrow)
    if not (wide_port or uneven):
        alike = len(cards) > 1 and len({card.width for card in cards}) == 1
        why = "the same on every card, as boards with split lanes do" if alike else ""
        raise Undecided(
            f"{quotes[0]}, and what its slot carries is not told{'; ' if why else ''}{why}",
            settle=_SETTLE,
            suspicion=0.2 if worst.width * 2 >= worst.best else 0.3,
        )
    return Finding(
        statement=f"The link of GPU {worst.gpu} has {worst.width} lanes of {worst.best}"
        + (f"; its peer has {widest}." if uneven else f"; its slot carries {worst.best}."),
        # A quarter of the lanes is no split by two, so no board does it to a slot for GPUs.
        confidence=0.85 if worst.busy and (wide_port or worst.width * 4 <= worst.best) else 0.7,
        slows=frozenset(("start",)) if tp == 1 else frozenset(("prefill", "ttft", "decode")),
        effect=Effect.of_slow_link((worst.best if wide_port else widest) / worst.width, tp),
        quotes=quotes,
    )


def _wrong_slot(
    narrow: Sequence[WidthReading], worst: WidthReading, port: PciDevice, tp: int | None
) -> Finding:
    """Judge a card whose port has a quarter of its lanes or fewer: that slot is not for a GPU."""
    names = ", ".join(card.gpu for card in narrow)
    one = len(narrow) == 1
    return Finding(
        statement=(
            f"GPU{'' if one else 's'} {names} {'sits in a slot that gives' if one else 'sit in slots that give'}"
            f" x{worst.width}: the port above ({port.bdf}{'' if one else ' and its like'}) offers"
            f" x{port.cap_width}, and the {'card' if one else 'cards'} can do x{worst.best}."
        ),
        confidence=0.8,
        slows=frozenset(("start",)) if tp == 1 else frozenset(("prefill", "ttft", "decode")),
        effect=Effect.of_slow_link(worst.best / worst.width, tp),
        remedy=(
            "Move the card to a slot with x8 or x16 lanes of the CPU; the board's manual says which.",
            "Until then no tensor parallelism over that link: one GPU per model, or pipeline stages.",
        ),
        risk="the machine must be powered off",
        verify="the same query under load shows x8 or x16, and a cold prefill is faster",
        quotes=tuple(f"GPU {card.gpu}: width {card.width} of {card.best}" for card in narrow[:4]),
    )


@rule(cause="pcie_width_narrow")
def link_narrower_in_the_bus_listing(
    links: PciLinks,
    gpus: Gpus | None,
    launch: Launch | None,
    log: ServerLog | None,
    info: ServerInfo | None,
) -> Outcome:
    """lspci or sysfs show fewer lanes than card and slot carry."""
    if gpus is not None and width_readings(gpus):
        return None  # the samples tell the moment, so link_narrower_than_it_should_be judges them
    told = [device for device in listed_cards(links) if device.link_width and device.cap_width]
    narrow = [device for device in told if (device.link_width or 0) < (device.cap_width or 0)]
    if not told:
        raise Undecided("the bus listing tells no width", settle=_SETTLE, suspicion=0.03)
    if not narrow:
        return Cleared("every link in the bus listing has its full width")
    one = narrow[0]
    port = _root_port(links, one.bdf)
    lanes = f"x{one.link_width} of x{one.cap_width}"
    if port is None or port.cap_width is None:
        raise Undecided(
            f"{one.bdf} has {lanes}; its slot is not told", settle=_SETTLE, suspicion=0.2
        )
    if port.cap_width <= (one.link_width or 0) and port.cap_width * 2 >= (one.cap_width or 0):
        return Cleared("the root port itself offers no more lanes: the board splits them so")
    wide, tp = port.cap_width > (one.link_width or 0), tp_size(launch, log, info)
    slot = f"its slot carries x{port.cap_width}" if wide else "its slot carries no more"
    best = min(one.cap_width or 0, port.cap_width) if wide else one.cap_width or 0
    return Finding(
        statement=f"The link of {one.bdf} has {lanes}; {slot}.",
        confidence=0.75,
        slows=frozenset(("start",)) if tp == 1 else frozenset(("prefill", "ttft", "start")),
        effect=Effect.of_slow_link(best / (one.link_width or 1), tp),
        quotes=(f"{one.bdf} LnkSta {lanes}", f"{port.bdf} LnkCap x{port.cap_width}"),
    )


@rule(cause="pcie_bifurcation_by_design")
def board_splits_the_lanes(links: PciLinks, gpus: Gpus | None) -> Outcome:
    """A GPU has half of the lanes because the board gives its slot no more."""
    cards = width_readings(gpus) if gpus else []
    if not cards:
        cards = [_listed(device) for device in links.gpus() if device.link_width]
    narrow = [card for card in cards if card.best and card.width < card.best]
    if not narrow:
        return None
    ports = [(card, port) for card in narrow if (port := _port_of(links, card, len(cards)))]
    split = [(card, port) for card, port in ports if _offers_no_more(port, card)]
    if not split:
        if all(port.cap_width for _, port in ports) and ports:
            return None
        raise Undecided("the root port's own width is not told", settle=_SETTLE, suspicion=0.15)
    if any(port.cap_width and port.cap_width * 2 < card.best for card, port in split):
        return None  # x4 is no split of x16 by two: a slot of the chipset, or an M.2 riser
    card, port = split[0]
    beside = next(
        (name for bdf, name in links.siblings.items() if _neighbours(bdf, port.bdf)), None
    )
    return Finding(
        statement=(
            f"{_which(split)} x{card.width} because {_port_words(split)} no more"
            f"{f'; {beside} has lanes of the same split' if beside else ''}."
        ),
        confidence=0.85,
        benign=True,
        quotes=(f"{port.bdf} LnkCap width x{port.cap_width}; GPU {card.gpu} width x{card.width}",),
    )


def _which(split: Sequence[tuple[WidthReading, PciDevice]]) -> str:
    names = ", ".join(card.gpu for card, _ in split)
    return f"GPU {names} has" if len(split) == 1 else f"GPUs {names} have"


def _port_words(split: Sequence[tuple[WidthReading, PciDevice]]) -> str:
    bdfs = list(dict.fromkeys(port.bdf for _, port in split))
    return f"the root port {bdfs[0]} offers" if len(split) == 1 else "their root ports offer"


def _listed(device: PciDevice) -> WidthReading:
    width = device.link_width or 0
    return WidthReading(
        device.bdf, device.bdf, device.name, width, device.cap_width or 0,
        busy=False, mixed=False, gen=device.link_gen,
    )  # fmt: skip


def _neighbours(sibling: str, port: str) -> bool:
    """Say whether a device hangs on another function of the same root port device."""
    return sibling.split(".")[0] == port.split(".")[0]


RULES = (
    link_narrower_than_it_should_be,
    link_narrower_in_the_bus_listing,
    board_splits_the_lanes,
)
