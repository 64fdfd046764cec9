"""Figures that a person claims: how fast it is, how fast it was, how many requests at once."""

from __future__ import annotations

import re

_NUMBER = r"(?<![\d.,])(\d{1,7}(?:[.,]\d+)?)"
_TOK_S = r"(?:tok(?:en)?s?\s*/\s*s(?:ec)?|tok(?:en)?s?\s+(?:per|a)\s+second|tps|t/s)"
_OF_OTHER_THINGS = (
    r"(?:ms|GB|GiB|W|C|B|V|s|x)\b|requests|users|streams|prompts|tokens?\b(?!\s*(?:/|per|a\s))"
)
_NOT_A_RATE = rf"(?![\d.,]*\s*(?:%|{_OF_OTHER_THINGS})|\d)"

_NOW = re.compile(rf"{_NUMBER}\s*(?:(?:-|–|to)\s*\d+(?:[.,]\d+)?)?\s*{_TOK_S}", re.IGNORECASE)
_FROM_TO = re.compile(rf"from\s+{_NUMBER}\s+to\s+{_NUMBER}\s*{_TOK_S}", re.IGNORECASE)
_DROPS_TO = re.compile(
    rf"{_NUMBER}\s*(?:{_TOK_S})?[^.!?\d]{{0,40}}\b(?:drop|fall|fell|sink|sank|slow|goes|went|declin|decay)\w*"
    rf"\s+(?:down\s+)?to\s+(?:about\s+|around\s+)?{_NUMBER}{_NOT_A_RATE}",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    rf"""(?: \b(?:was|were|once|had\s+been|instead\s+of|gave)
        | \bit\s+did | \band\s+did | used\s+to\s+(?:be|do|get) | before(?:\s+it\s+(?:was|did))?
        | (?:down|fell|dropped)\s+from | promise[sd]? | \bread\s+of | \breports? )
        \s+ (?:about\s+|around\s+)? {_NUMBER} {_NOT_A_RATE} (?:\s*{_TOK_S})?""",
    re.IGNORECASE | re.VERBOSE,
)
_BETWEEN = re.compile(rf"between\s+{_NUMBER}\s+and\s+{_NUMBER}\s*{_TOK_S}", re.IGNORECASE)
_MEASURED = re.compile(
    rf"\b(?:measure|get|only|now|just)\s+(?:about\s+|around\s+|only\s+)?{_NUMBER}{_NOT_A_RATE}",
    re.IGNORECASE,
)
_AT_ONCE = (
    r"(?:in\s+parallel|at\s+once|at\s+the\s+same\s+time|concurrently|simultaneously|in\s+flight)"
)
_FOR_EACH = re.compile(
    rf"{_TOK_S}\s*(?:,\s*)?(?:each|for\s+each|per\s+(?:user|request|stream|session|client)|pro\s+\w+)\b"
    rf"|\beach\b[^.!?]{{0,60}}\d\s*{_TOK_S}",
    re.IGNORECASE,
)
_IN_PARALLEL = (
    re.compile(
        rf"(\d{{1,5}})\s+(?:\w+\s+)?(?:requests?|streams?|prompts?|connections?|calls)\s+{_AT_ONCE}",
        re.IGNORECASE,
    ),
    re.compile(
        r"(\d{1,5})\s+(?:concurrent|parallel|simultaneous)\s+(?:requests?|streams?|prompts?|connections?|calls)",
        re.IGNORECASE,
    ),
    re.compile(r"\bconcurrency\s*(?:of|=|is|:)?\s*(\d{1,5})\b", re.IGNORECASE),
)


def claimed(text: str) -> tuple[float | None, float | None]:
    """Return the rate now and the rate before, in tokens per second, as far as they are claimed."""
    text = _BETWEEN.sub("", text)  # a range is neither the rate now nor the one before
    if not _NOW.search(text):
        return None, None  # figures of something else: "370 ms instead of 80"
    if both := _FROM_TO.search(text):
        return _number(both[2]), _number(both[1])
    if drops := _DROPS_TO.search(text):
        return _number(drops[2]), _number(drops[1])
    before = _BEFORE.search(text)
    spoken = [m for m in _NOW.finditer(text) if not (before and _within(m, before))]
    if spoken:
        now: re.Match[str] | None = spoken[0]
    else:  # the only rate with a unit is the one before: "it gave 117 tok/s, I measure 46"
        now = _MEASURED.search(text, before.end() if before else 0)
    return (_number(now[1]) if now else None), (_number(before[1]) if before else None)


def in_parallel(text: str) -> int | None:
    """Return how many requests are said to be in flight at once."""
    found = next((m for form in _IN_PARALLEL if (m := form.search(text))), None)
    return int(found[1]) if found else None


def for_each(text: str) -> bool:
    """Say whether the rate that is told is meant for each request or user."""
    return bool(_FOR_EACH.search(text))


def _within(inner: re.Match[str], outer: re.Match[str]) -> bool:
    return outer.start() <= inner.start() < outer.end()


def _number(text: str) -> float:
    return float(text.replace(",", "."))
