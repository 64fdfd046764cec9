"""Whether what a piece calls excluded is: a cause by its name or in the words of its hypothesis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.agent.checking.ground import Ground
from bot.agent.checking.phrase import Phrase
from bot.agent.checking.stems import stems
from bot.followup.suspect import suspects
from bot.narrator.answers import TOPICS
from tools.knowledge import CAUSES

_EXCLUDED = "exclud"
_MOST = 0.6  # share of a hypothesis that says which one is meant
_BROAD = frozenset({"sglang", "measurement", "client"})  # layers whose words are everywhere


@dataclass(frozen=True)
class Excluded:
    """The lines that tell what is excluded, and the layers and causes that are found and so are not."""

    lines: Sequence[Ground]
    found: frozenset[str]

    def bearing(self, said: Phrase) -> list[Ground]:
        """Return the lines of what a piece calls excluded; none where it says something else."""
        words = frozenset(said.words) - {_EXCLUDED}
        named = suspects(said.text) - _BROAD
        if (
            _EXCLUDED not in said.words
            or said.denied
            or not words
            or named & self.found
            or said.turns
        ):
            return []
        return [
            one for one in self.lines if one.kind == "excluded" and self._means(words, named, one)
        ]

    def _means(self, words: frozenset[str], named: frozenset[str], one: Ground) -> bool:
        layer = CAUSES[one.of].layer
        ours = one.stems | stems(f"{TOPICS.get(layer, '')} {TOPICS.get(one.of, '')}")
        ours = ours.union(
            *(each.stems for each in self.lines if each.of == one.of and each.part == "why")
        )
        if not words <= ours:
            return False
        by_name = {one.of, layer} & named
        return bool(by_name) or len(words & one.stems) >= _MOST * (len(one.stems) - 1)
