"""One thing that bears on speed and can be held against the same thing elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tools.rule import Shown

Group = Literal["hardware", "machine", "launch", "workload", "finding"]
# What of a deployment the step model can put in the other's place.
Term = Literal[
    "gpu", "tp", "link", "peer", "custom", "memory_clock", "power", "checkpoint", "kv_cache", "drafts",
    "host", "graph", "chunk", "context",
]  # fmt: skip


@dataclass(frozen=True)
class Trait:
    """A name and what is told of it.

    `number` is its figure, which is the same within the share `slack`. `weight` orders what costs
    alike. `term` is what the step model changes for it. `causes` and `words` say which findings are
    about it: ids of the catalogue, and what their sentences hold. `absent` is what it means that the
    other side was read and does not have it; empty: nothing. `shown_by` are the facts that tell it.
    """

    name: str
    shown: str
    group: Group
    number: float | None = None
    slack: float = 0.0
    weight: int = 1
    term: Term | None = None
    causes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    absent: str = ""
    shown_by: tuple[Shown, ...] = ()

    def alike(self, other: Trait) -> bool:
        """Say whether two are the same, within what chance makes of them."""
        if self.number is None or other.number is None:
            return self.shown == other.shown
        slack = min(self.slack, other.slack)  # what one of the two chose on purpose is exact
        allowed = slack * max(abs(self.number), abs(other.number))
        return abs(self.number - other.number) <= allowed
