"""Which looks show something, for the ids that a sentence cites."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from tools.evidence import Evidence
from tools.probe import Facts

F = TypeVar("F", bound=Facts)

SHORT = 80  # characters of a person's words that are repeated


def ids(
    evidence: Sequence[Evidence], kind: type[F], holds: Callable[[F], bool] = lambda _: True
) -> tuple[str, ...]:
    """Return the ids of the looks that gave facts of a type, of those that hold something."""
    return tuple(one.id for one in evidence if isinstance(one.facts, kind) and holds(one.facts))


def ordered(cited: Iterable[str]) -> tuple[str, ...]:
    """Return each id once, in the order of the looks."""
    return tuple(sorted(set(cited), key=lambda one: int(one[1:])))


def short(words: str) -> str:
    """Return a person's words as they are repeated."""
    return words if len(words) <= SHORT else words[: SHORT - 1] + "…"


_SPELLED = {
    name.lower(): name
    for name in (
        "NCCL",
        "NUMA",
        "ECC",
        "P2P",
        "PCIe",
        "NVLink",
        "ACS",
        "IOMMU",
        "MIG",
        "MPS",
        "CPU",
        "GPU",
        "TP",
        "CUDA",
        "KV",
    )
}
_WORD = re.compile(r"[A-Za-z0-9]+")


def spelled(words: str) -> str:
    """Return a person's words as they begin a sentence, with names as engineers write them."""
    told = _WORD.sub(lambda found: _SPELLED.get(found[0].lower(), found[0]), short(words))
    return f"{told[:1].upper()}{told[1:]}"
