"""The headline of a verdict: what is to blame on top and large, its cost and confidence below it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bot.narrator import Line, Part
from bot.slack.blocks.bricks import HEADER
from bot.slack.blocks.safe import size
from tools.harmless import harmless

_REST = re.compile(r" (?=(?:It costs [^.]*\. )?Confidence (?:high|medium|low)\.$)")


def parted(line: Line) -> tuple[str, Line]:
    """Return what a header holds, and what is left to be told below it.

    A header holds 150 characters (https://docs.slack.dev/reference/block-kit/blocks/header-block);
    a longer headline is told as a paragraph, for half of it would be none.
    """
    cause, *rest = _REST.split(harmless(line.text), maxsplit=1)
    if not cause.strip() or size(cause) > HEADER:
        return "", line
    return cause, replace(line, text="".join(rest))


def lead_first(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield the parts; what is served on what follows the headline, as small print."""
    held: Line | None = None
    for part in parts:
        if isinstance(part, Line) and part.kind == "verdict":
            yield part
            if held:
                yield Line("text", held.text)
            held = None
            continue
        if held:
            yield held
        held = part if isinstance(part, Line) and part.kind == "heading" else None
        if held is None:
            yield part
    if held:
        yield held
