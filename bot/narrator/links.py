"""PCIe links in a few words: what they run at, of what is possible, and whether that proves anything."""

from __future__ import annotations

from bot.narrator.wording import some
from tools.linux.pci import PciLinks
from tools.nvidia.gpus import Gpus


def links_of(facts: Gpus) -> str:
    """Tell the links under load, else at rest, where a low one is no proof; and of which GPU each is."""
    of: dict[str, dict[str, None]] = {}
    low = False
    for gpu, group in facts.by_gpu().items():
        for one in [sample for sample in group if sample.busy] or group:
            if not one.link_gen or not one.link_width or (facts.busy() and not one.busy):
                continue
            below = one.gen_possible is not None and one.link_gen < one.gen_possible
            low = low or below
            link = f"Gen{one.link_gen} x{one.link_width}"
            of.setdefault(f"{link} of Gen{one.gen_possible}" if below else link, {})[gpu] = None
    if not of:
        return ""
    shown = [
        link if len(of) == 1 else f"{link} on GPU {'+'.join(gpus)}" for link, gpus in of.items()
    ]
    if facts.busy():
        return f"{some(shown)} under load"
    if all(sample.busy is None for sample in facts.samples):
        return some(shown)
    return f"{some(shown)} at rest{', as idle GPUs do by themselves: no proof' if low else ''}"


def hops_of(facts: PciLinks) -> str:
    """Tell the links of cards and ports, as a bus listing shows them."""
    hops = [
        f"{d.bdf.removeprefix('0000:')} Gen{d.link_gen} x{d.link_width}"
        + (f" of Gen{d.cap_gen}" if d.cap_gen and d.link_gen < d.cap_gen else "")
        for d in facts.devices
        if d.link_gen
    ]
    return some(hops) or "no link's speed is told"
