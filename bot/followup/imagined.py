"""A change in thought as the step model takes it, or why this machine cannot have it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.followup.change import Change
from tools.physics.deployment import Deployment
from tools.physics.link import Link
from tools.physics.seen import Seen
from tools.physics.whatif import Today

_POWERS = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Imagined:
    """The deployment after a change, and its name. `refusal` says why there is none.

    `of_the_link` says that the link between the GPUs changes, `is_the_repair` that it changes to
    what card and slot can do.
    """

    deployment: Deployment
    title: str = ""
    refusal: str = ""
    remarks: tuple[str, ...] = ()
    of_the_link: bool = False
    is_the_repair: bool = False


def imagine(change: Change, today: Today, seen: Seen) -> Imagined:
    """Return a change as the model takes it; raise Undecided where the link is not known."""
    now = today.deployment
    if change.accept_len is not None:
        return _accepting(change.accept_len, today)
    if change.tp is not None:
        return _split(change.tp, today, seen)
    if now.tp == 1:
        return Imagined(
            now,
            refusal="One GPU alone serves this model, so no link between GPUs is used: nothing would change.",
        )
    if change.nvlink:
        return _nvlink(today, seen)
    return _pcie(change, today, seen)


def _accepting(accept_len: float, today: Today) -> Imagined:
    now = today.deployment
    if not now.draft_forwards:
        return Imagined(
            now,
            refusal="No speculation runs here, so there is no accept length: each step yields one token.",
        )
    most = now.draft_forwards + 1
    if not 1 <= accept_len <= most:
        return Imagined(
            now,
            refusal=f"An accept length of {accept_len:g} cannot be: {now.draft_forwards} drafts give 1 to {most}.",
        )
    remark = "The accept length follows the prompts (code is easier than prose); no setting raises it at will."
    return Imagined(
        today.accepting(accept_len), f"At an accept length of {accept_len:g}", remarks=(remark,)
    )


def _split(gpus: int, today: Today, seen: Seen) -> Imagined:
    now, there = today.deployment, len(seen.gpus.by_gpu()) if seen.gpus else 0
    if gpus not in _POWERS:
        return Imagined(
            now, refusal=f"TP {gpus} is not a size that I would work out; 1, 2, 4 and 8 are."
        )
    if gpus == now.tp:
        return Imagined(now, refusal=f"It runs with TP {gpus} already.")
    if gpus < now.tp and (short := _too_large(gpus, today, seen)):
        return Imagined(now, refusal=short)
    link = seen.link()
    remarks = []
    if gpus > there:
        remarks.append(
            f"Here are {there} GPUs, so this needs {gpus - there} more of the same kind on the same links."
        )
    if gpus > 2 and not link.nvlink:
        link = replace(link, custom=False)
        remarks.append(
            "Above two GPUs the engine's own all-reduce needs NVLink; NCCL is taken here."
        )
    return Imagined(today.split(gpus, link), f"TP {gpus}", remarks=tuple(remarks))


def _too_large(gpus: int, today: Today, seen: Seen) -> str:
    """Say why the weights do not fit on fewer GPUs; empty where they may."""
    now = today.deployment
    if not seen.log or not seen.log.weights_gb:
        return ""
    each_gb = seen.log.weights_gb * now.tp / gpus  # the log prints GiB
    if each_gb <= now.gpu.mem_gb * 0.95:
        return ""
    return (
        f"TP {gpus} cannot be: the weights are {each_gb:.0f} GiB for each GPU,"
        f" and each {now.gpu.name} has {now.gpu.mem_gb:.0f}."
    )


def _nvlink(today: Today, seen: Seen) -> Imagined:
    now = today.deployment
    card = now.gpu.nvlink
    if now.link.nvlink:
        return Imagined(
            now, refusal="They are joined by NVLink already, and the figures are of that."
        )
    if card is None:
        return Imagined(
            now,
            refusal=f"{now.gpu.name} cards have no NVLink connector, so there is no bridge for them.",
        )
    link = Link.nv(card.both_ways_gb_s / 2, custom=seen.link(repaired=True).custom)
    remarks = []
    if card.kind == "bridge" and now.tp > 2:
        remarks.append(
            f"A bridge joins pairs; of {now.tp} GPUs the others still talk over PCIe, so this is the best case."
        )
    what = "With an NVLink bridge" if card.kind == "bridge" else "With NVLink"
    return Imagined(today.over(link), what, remarks=tuple(remarks), of_the_link=True)


def _pcie(change: Change, today: Today, seen: Seen) -> Imagined:
    now, possible = today.deployment, seen.link(repaired=True)
    if now.link.nvlink:
        return Imagined(
            now,
            refusal="The GPUs talk over NVLink here, so PCIe does not count for what they exchange.",
        )
    best = now.gpu.pcie_gen
    if change.gen and change.gen > best:
        return Imagined(
            now,
            refusal=f"{now.gpu.name} cards do PCIe Gen{best} at most:"
            f" a Gen{change.gen} slot would give no more than Gen{best}.",
        )
    base = possible if change.repaired else now.link
    gen, width = _parts(base.name)
    gen, width = change.gen or gen, change.width or width
    peer = base.p2p and not change.no_peer
    link = Link.pcie(gen, width, p2p=peer, custom=peer and base.custom)
    if link == now.link:
        return Imagined(now, refusal=f"That is how it runs: {link.name}.")
    title = f"With {link.name}" + ("" if peer else ", without peer access")
    remarks = (
        ()
        if peer
        else ("Without peer access NCCL stages every message through the host's memory.",)
    )
    return Imagined(
        today.over(link), title, remarks=remarks, of_the_link=True, is_the_repair=link == possible
    )


def _parts(name: str) -> tuple[int, int]:
    """Return generation and width of a PCIe link by its name: "PCIe Gen4 x16"."""
    gen, width = name.removeprefix("PCIe Gen").split(" x")
    return int(gen), int(width)
