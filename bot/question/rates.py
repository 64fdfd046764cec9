"""Rates that a person claims: how fast it is, how fast it was."""

from __future__ import annotations

import re

_NUMBER = r"(\d+(?:[.,]\d+)?)"
_TOK_S = r"(?:tok(?:en)?s?\s*/\s*s(?:ec)?|tok(?:en)?s?\s+per\s+second|tps|t/s)"
_NOT_A_RATE = r"(?![\d.,]*\s*(?:%|(?:ms|GB|GiB|W|C|B|V|s|x)\b)|\d)"

_NOW = re.compile(rf"{_NUMBER}\s*(?:(?:-|–|to)\s*\d+(?:[.,]\d+)?)?\s*{_TOK_S}", re.IGNORECASE)
_FROM_TO = re.compile(rf"from\s+{_NUMBER}\s+to\s+{_NUMBER}\s*{_TOK_S}", re.IGNORECASE)
_BEFORE = re.compile(
    rf"""(?: \b(?:was|were|once|had\s+been|instead\s+of) | used\s+to\s+(?:be|do|get) | before(?:\s+it\s+(?:was|did))?
        | (?:down|fell|dropped)\s+from | promises? )
        \s+ (?:about\s+|around\s+)? {_NUMBER} {_NOT_A_RATE}""",
    re.IGNORECASE | re.VERBOSE,
)


def claimed(text: str) -> tuple[float | None, float | None]:
    """Return the rate now and the rate before, in tokens per second, as far as they are claimed."""
    if both := _FROM_TO.search(text):
        return _number(both[2]), _number(both[1])
    now, before = _NOW.search(text), _BEFORE.search(text)
    return (_number(now[1]) if now else None), (_number(before[1]) if before else None)


def _number(text: str) -> float:
    return float(text.replace(",", "."))
