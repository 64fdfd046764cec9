"""A sentence in its clauses, and which of them deny."""

from __future__ import annotations

import re
from itertools import pairwise

_CUT = re.compile(
    r"[;:()·|]|[,.!?](?=\s|$)|\s[–—-]\s"
    r"|\b(?=(?:and|but|while|whereas|because|since|although|though|instead of|rather than|which|so that|so)\b)",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:not|no|never|none|nothing|without|neither|nor|nobody|nowhere|cannot|hardly|\w+n't|fails? to)\b",
    re.IGNORECASE,
)


def spans(text: str) -> list[tuple[int, int]]:
    """Return where each clause begins and ends."""
    cuts = [0, *(found.start() for found in _CUT.finditer(text)), len(text)]
    return [(start, end) for start, end in pairwise(cuts) if end > start]


def denied(text: str) -> bool:
    """Say whether a clause denies: an odd number of negations."""
    found = [one.lower() for one in _NOT.findall(text)]
    alone = [
        one for one in found if one != "nor" or "neither" not in found
    ]  # both together deny once
    return len(alone) % 2 == 1
