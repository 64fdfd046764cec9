"""Figures that a person claims: how fast it is, how fast it was, how many requests at once."""

from __future__ import annotations

import re

from bot.question.plain import plain

_NUMBER = r"(?<![\w.,])(\d{1,7}(?:[.,]\d+)?)"
_TOK_S = r"tok/s"  # every way of writing the unit is read as this one
_ABOUT = r"(?:(?:about|around|roughly|only|just|~)\s*)?"
_UNIT = re.compile(
    r"(?<![a-z/])(?:(?:tokens?|toks?|tkns?|tks?)\s*(?:/|\bper\b|\ba\b|\beach\b|\bp/)\s*s(?:ec(?:ond)?s?)?|tps|t/s)(?![a-z])",
    re.IGNORECASE,
)
_UNIT_FIRST = re.compile(r"\(?tok/s\)?\s*[:=]\s*(\d{1,7}(?:\.\d+)?)(?![\d.]*\s*tok/s)")
_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_K = re.compile(r"(?<![\w.,])(\d{1,3}(?:\.\d{1,3})?)\s?k(?![a-z])", re.IGNORECASE)
_OF_OTHER_THINGS = (
    r"(?:ms|GB|GiB|W|C|B|V|s|x)\b|requests|users|streams|prompts|tokens?\b(?!\s*(?:/|per|a\s))"
)
_NOT_A_RATE = rf"(?![\d.,]*\s*(?:%|{_OF_OTHER_THINGS})|\d)"


_NOW = re.compile(rf"{_NUMBER}\s*(?:(?:-|–|to)\s*\d+(?:[.,]\d+)?)?\s*{_TOK_S}", re.IGNORECASE)
_FELL = r"(?:(?:down|dropped|drops|fell|falls|went|slowed)\s+)*"
_FROM_TO = re.compile(
    rf"(?:from\s+{_NUMBER}\s*(?:{_TOK_S}\s*)?{_FELL}to\s+{_ABOUT}|{_NUMBER}\s*(?:{_TOK_S}\s*)?->\s*{_ABOUT}){_NUMBER}\s*{_TOK_S}"
    rf"|(?:from\s+{_NUMBER}\s*{_TOK_S}\s*{_FELL}to\s+{_ABOUT}|{_NUMBER}\s*{_TOK_S}\s*->\s*{_ABOUT}){_NUMBER}{_NOT_A_RATE}",
    re.IGNORECASE,
)
_TO_FROM = re.compile(
    rf"\bto\s+{_ABOUT}{_NUMBER}\s*{_TOK_S}\s*(?:down\s+)?from\s+{_ABOUT}{_NUMBER}", re.IGNORECASE
)
_DROPS_TO = re.compile(
    rf"{_NUMBER}\s*(?:{_TOK_S})?[^.!?\d]{{0,40}}\b(?:drop|fall|fell|sink|sank|slow|goes|went|declin|decay)\w*"
    rf"\s+(?:down\s+)?to\s+(?:about\s+|around\s+)?{_NUMBER}{_NOT_A_RATE}",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    rf"""(?: \b(?:was|were|once|had\s+been|instead\s+of|gave)
        | \bit\s+did | \band\s+did | before(?:\s+the\s+\w+)?(?:\s+it\s+(?:was|did))?
        | used\s+to\s+(?:be|do|get|give|make|reach|have|hit|run)(?:\s+(?:us|me|at))?
        | (?:down|fell|dropped)\s+from | \bstart(?:s|ed)?\s+(?:out\s+)?at | promise[sd]? | \bread\s+of | \breports?
        | \bexpect(?:ed|ing|s)? | \b(?:should|supposed\s+to|ought\s+to)\s+(?:be|do|get|give|make|reach|hit)(?:\s+at)?
        | \b(?:normally|usually|typically|originally|previously|formerly)(?:\s+(?:it\s+)?(?:was|is|does|did|got|at))?
        | \b(?:last\s+(?:week|month|night|year|time)|yesterday)(?:\s+(?:it\s+)?(?:was|did|got|had|at))? )
        [\s:]+ {_ABOUT} {_NUMBER} {_NOT_A_RATE} (?:\s*{_TOK_S})?""",
    re.IGNORECASE | re.VERBOSE,
)
_BEFORE_LAST = re.compile(
    rf"""{_NUMBER}\s*(?:{_TOK_S})?\s+
        (?:before | previously | earlier | originally | expected | yesterday | last\s+(?:week|month|night|year|time)
          | back\s+then | (?:\w+\s+)?(?:days?|weeks?|months?|years?)\s+ago
          | in\s+(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*)\b
        (?!\s+(?:{_ABOUT}\d|it\s+(?:was|did)))""",
    re.IGNORECASE | re.VERBOSE,
)
_BETWEEN = re.compile(rf"between\s+{_NUMBER}\s+and\s+{_NUMBER}\s*{_TOK_S}", re.IGNORECASE)
_MEASURED = re.compile(
    rf"\b(?:measure|get|see|reach|only|now|just)(?:\s+it(?:'s|\s+is|\s+does|\s+makes)?)?(?:\s+at)?\s+{_ABOUT}{_NUMBER}{_NOT_A_RATE}"
    rf"|{_NUMBER}\s+(?:now|today|at\s+the\s+moment)\b",
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
    text = _in_one_unit(text)
    text = _BETWEEN.sub("", text)  # a range is neither the rate now nor the one before
    if not _NOW.search(text):
        return None, None  # figures of something else: "370 ms instead of 80"
    if both := _FROM_TO.search(text) or _DROPS_TO.search(text):
        fell_from, fell_to = (float(figures) for figures in both.groups() if figures)
        return fell_to, fell_from
    if turned := _TO_FROM.search(text):
        return float(turned[1]), float(turned[2])
    before = _BEFORE.search(text) or _BEFORE_LAST.search(text)
    spoken = [m for m in _NOW.finditer(text) if not (before and _within(m, before))]
    if spoken:
        now: re.Match[str] | None = spoken[0]
    else:  # the only rate with a unit is the one before: "it gave 117 tok/s, I measure 46"
        now = _MEASURED.search(text, before.end() if before else 0)
    return _figure(now), _figure(before)


def in_parallel(text: str) -> int | None:
    """Return how many requests are said to be in flight at once."""
    found = next((m for form in _IN_PARALLEL if (m := form.search(plain(text)))), None)
    return int(found[1]) if found else None


def for_each(text: str) -> bool:
    """Say whether the rate that is told is meant for each request or user."""
    return bool(_FOR_EACH.search(_in_one_unit(text)))


def _in_one_unit(text: str) -> str:
    """Write thousands in full, and every tok/s alike and after its figure."""
    text = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), plain(text))
    text = _K.sub(lambda found: f"{float(found[1]) * 1000:g}", text)
    text = re.sub(r"(?<=\d),(?=\d)", ".", text)
    return _UNIT_FIRST.sub(r"\1 tok/s", _UNIT.sub("tok/s", text))


def _within(inner: re.Match[str], outer: re.Match[str]) -> bool:
    return outer.start() <= inner.start() < outer.end()


def _figure(found: re.Match[str] | None) -> float | None:
    return next((float(one) for one in found.groups() if one), None) if found else None
