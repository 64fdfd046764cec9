"""What a bus listing says that links could do, and which of them show less."""

from __future__ import annotations

from tools.linux.pci import PciDevice, PciLinks


def cards(links: PciLinks) -> tuple[PciDevice, ...]:
    """Return the GPUs; a pasted snippet without a header names nothing, so it may be one."""
    nameless = (device for device in links.devices if device.port is None and not device.name)
    return links.gpus() or tuple(nameless)


def possible_gens(links: PciLinks | None) -> dict[str, int]:
    """Return the generation that each card and the port above it can both do, where both tell."""
    found = {}
    for device in links.devices if links else ():
        above = links.path(device.bdf)[1:2] if links else ()
        if device.cap_gen and above and above[0].cap_gen:
            found[device.bdf] = min(device.cap_gen, above[0].cap_gen)
    return found


def shown_low(links: PciLinks) -> tuple[PciDevice, ...]:
    """Return the cards whose link shows less than card and port can do; lspci cannot say when."""
    return tuple(device for device in cards(links) if _is_low(links, device))


def _is_low(links: PciLinks, device: PciDevice) -> bool:
    if not (device.link_gen and device.cap_gen):
        return False
    above = links.path(device.bdf)[1:2]
    return device.link_gen < min(one.cap_gen for one in (device, *above) if one.cap_gen)
