"""What the person wants to know: which aspects of serving, what they suspect, and what they claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tools.rule import Aspect, Rule

Other = Literal["", "version", "host"]


@dataclass(frozen=True)
class Interest:
    """What a question is about.

    `suspects` holds layers and ids of the catalogue ("pcie", "nccl", "cuda_graph_disabled") that are
    spoken of; `blamed` those of them that are said, or asked, to be the cause; `intended` those that
    the person says are so on purpose. `elsewhere` is what is said to be faster.
    """

    aspects: frozenset[Aspect] = frozenset()
    suspects: frozenset[str] = frozenset()
    intended: frozenset[str] = frozenset()
    blamed: frozenset[str] = frozenset()
    elsewhere: Other = ""

    @property
    def stopped(self) -> bool:
        """Say whether it is about a server that does not run at all."""
        return bool(self.aspects & {"start", "crash"})

    def in_cause(self, rule: Rule) -> bool:
        """Say whether the cause of a rule is suspected."""
        return bool(self.suspects & {rule.cause.id, rule.cause.layer})
