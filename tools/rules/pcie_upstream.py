"""A port above a GPU that is slower than the GPU's own link: a chipset's uplink, a switch."""

from __future__ import annotations

from collections.abc import Sequence

from tools.engine import Launch, ServerInfo, ServerLog
from tools.engine.parallel import tp_size
from tools.errors import Undecided
from tools.knowledge.links import pcie_gb_s
from tools.linux.pci import PciDevice, PciLinks
from tools.nvidia.gpus import Gpus
from tools.nvidia.width_reading import WidthReading, width_readings
from tools.rule import Cleared, Effect, Finding, Outcome, rule

# What shares the lanes of a chipset and never those of a PEX or PLX switch for GPUs.
_CHIPSET = ("usb", "sata", "ethernet", "gigabit", "fch", "pch", "i211", "i225", "xhci", "wi-fi")
_CHIPSET_PORTS = ("matisse switch", "chipset", "pch", "500 series", "600 series", "promontory")
_CHIPSET_UPLINK = 4  # lanes: AM4 X570/B550, AM5, and DMI of Intel desktop boards up to Gen4 x8


@rule(cause="pcie_upstream_bottleneck")
def narrower_further_up(
    links: PciLinks,
    gpus: Gpus | None,
    launch: Launch | None,
    log: ServerLog | None,
    info: ServerInfo | None,
) -> Outcome:
    """Some port above a GPU is slower than the GPU's own link."""
    cards = {card.bdf: card for card in (width_readings(gpus) if gpus else []) if card.bdf}
    bdfs = [*cards, *(device.bdf for device in links.gpus() if device.bdf not in cards)]
    paths = {bdf: links.path(bdf) for bdf in bdfs if len(links.path(bdf)) > 1}
    if not paths:
        raise Undecided(
            "the ports above the GPUs were not seen",
            settle="lspci -tv, and sudo lspci -vv of every bridge between GPU and root port",
            suspicion=0.1 if len(bdfs) > 1 else 0.02,
        )
    for bdf, path in paths.items():
        found = _bottleneck(path, cards.get(bdf), links, len(paths))
        if found:
            times, how, confidence = found
            others = [cards[one].gpu if one in cards else one for one in paths if one != bdf]
            gpu = cards[bdf].gpu if bdf in cards else bdf
            tp = tp_size(launch, log, info)
            return Finding(
                statement=f"GPU {gpu} shares a slower way up: {how}.",
                confidence=confidence,
                slows=frozenset(("start",))
                if tp == 1
                else frozenset(("prefill", "ttft", "decode")),
                effect=Effect.of_slow_link(times, tp),
                remedy=(
                    (f"Run the group on the GPUs with CPU lanes ({', '.join(others)}).",)
                    if len(others) > 1
                    else ("Move the card to a slot with CPU lanes.",)
                ),
                quotes=(" < ".join(one.bdf for one in path),),
            )
    if all(_rate(port) for path in paths.values() for port in path[1:]):
        return Cleared("no port above a GPU is slower than the GPU's link")
    raise Undecided(
        "the tree is known, the speed of its ports is not",
        settle="sudo lspci -vv of every bridge between GPU and root port (LnkCap, LnkSta)",
        suspicion=0.1,
    )


def _rate(device: PciDevice) -> float | None:
    """Return what a port can carry: capability, as its state at rest says nothing."""
    gen = device.cap_gen or device.link_gen
    return pcie_gb_s(gen, device.link_width) if gen and device.link_width else None


def _bottleneck(
    path: Sequence[PciDevice], card: WidthReading | None, links: PciLinks, others: int
) -> tuple[float, str, float] | None:
    gen = (card and card.gen) or path[0].cap_gen
    width = card.width if card else path[0].link_width
    own = (pcie_gb_s(gen, width) if gen and width else None) or _rate(path[0])
    for port in path[2:]:
        rate = _rate(port)
        if own and rate and rate < 0.9 * own:
            return own / rate, f"{port.bdf} above it carries {rate:.1f} of {own:.1f} GB/s", 0.9
    switch = path[2] if len(path) > 3 else None  # GPU, downstream port, upstream port, root port
    if switch and others > 1 and _is_chipset(switch, path, links):
        times = max(1.0, (width or _CHIPSET_UPLINK) / _CHIPSET_UPLINK)
        return times, f"it hangs on the chipset switch {switch.bdf}, not on CPU lanes", 0.75
    return None


def _is_chipset(switch: PciDevice, path: Sequence[PciDevice], links: PciLinks) -> bool:
    """Say whether a switch is a chipset: by its name, or by what else hangs on it."""
    if any(word in (port.name or "").lower() for port in path[1:] for word in _CHIPSET_PORTS):
        return True
    below = [name for bdf, name in links.siblings.items() if switch in links.path(bdf)]
    return any(word in name.lower() for name in below for word in _CHIPSET)


RULES = (narrower_further_up,)
