"""What a model phrased, after it was checked, and what it merely supposes: each marked as what it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from bot.narrator.line import Kind, Line


class Idea(Protocol):
    """What nothing proves yet, and the test that would."""

    @property
    def text(self) -> str:
        """Return the idea."""

    @property
    def test(self) -> str:
        """Return what would prove it."""

    @property
    def looks(self) -> tuple[str, ...]:
        """Return the looks that suggest it."""


@dataclass(frozen=True)
class Explanation:
    """What a model added to a verdict: checked sentences, unproven ideas, and remarks of ours on both."""

    lines: tuple[Line, ...] = ()
    ideas: Sequence[Idea] = ()
    remarks: tuple[str, ...] = ()

    def exchanges_kept(self) -> list[dict[str, Any]]:
        """Return what the model was given and said, as a case keeps it."""
        return []


def explained(explanation: Explanation | None) -> Iterator[Line]:
    """Tell the sentences of a model; where none stands, why."""
    if explanation is None:
        return
    if explanation.lines:
        yield Line("heading", "In a model's words, each sentence checked against the looks")
    yield from explanation.lines
    aside: Kind = "said" if explanation.lines else "text"  # what a host said is quoted, this is not
    yield from (Line(aside, text) for text in explanation.remarks)


def supposed(explanation: Explanation | None) -> Iterator[Line]:
    """Tell what a model supposes, with the test of each."""
    if explanation is None or not explanation.ideas:
        return
    yield Line("heading", "Unproven ideas of the model")
    for one in explanation.ideas:
        yield Line("item", f"{_ended(one.text)} To test: {_ended(one.test)}", one.looks)


def _ended(text: str) -> str:
    return f"{text.rstrip('.')}."
