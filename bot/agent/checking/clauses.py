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


def clauses(text: str) -> list[str]:
    """Return the clauses of a text."""
    return [text[start:end].strip() for start, end in spans(text) if text[start:end].strip()]


def bare(clause: str) -> str:
    """Return a clause in lower case, without the signs around it."""
    return clause.lower().strip(" ,;:()·.!?|")


def denials(text: str) -> int:
    """Count the negations of a clause."""
    return len(_NOT.findall(text))


def denied(text: str) -> bool:
    """Say whether a clause denies: an odd number of negations."""
    return denials(text) % 2 == 1
