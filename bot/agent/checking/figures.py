"""The figures of a text: value, unit, and what each is said of."""

# ruff: noqa: E501, SIM905 (patterns and lists of words)

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from bot.agent.checking import said_of
from bot.agent.checking.clauses import denied, spans
from bot.agent.checking.numerals import plain
from bot.agent.checking.stems import stems
from bot.agent.checking.units import CANON, UNIT

_ID = (
    r"gpus?|cards?|xids?|ranks?|tp|dp|ep|pp|pid|port|numa|nodes?|cores?|sockets?|slots?|layers?|driver|cuda|nccl"
    r"|version|python|sglang|vllm|torch|status|http|rung|line"
)
_FIGURE = re.compile(
    rf"(?:(?<![\w.-])(?P<id>{_ID})[ #=]*)?"
    r"(?<![\w.,])(?P<sign>[-+±~])?(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    rf"(?:(?P<kilo>k)(?![\w/]))?(?:\s?(?P<unit>{UNIT})(?!\w))?(?![\w]|\.\d)"
    r"(?P<more>,? ?(?:and |or )?(?=\d))?",
    re.IGNORECASE,
)
_NAMES = (
    re.compile(  # dates, times, versions and places on a bus are names, with no value of their own
        r"\b\d{4}-\d\d-\d\d\b|\b\d+(?:\.\d+){2,}\b|\b[0-9a-f]{2,8}(?::[0-9a-f]{2,4})+(?:\.\d)?\b"
        r"|[\w./-]+\.(?:py|cc?|cu|cpp|h|log|json|txt):\d+",
        re.IGNORECASE,
    )
)
_LINK = re.compile(r"\b(?P<kind>gen|x)(?P<number>\d{1,2})\b", re.IGNORECASE)
_NOUN = re.compile(r"\s+(?:of (?:the |its |all )?|different |more )?(?P<noun>#?[A-Za-z][A-Za-z-]+)")
_OF_NOUN = re.compile(r"\s+of (?:the )?\d[\d,]*\s+(?P<noun>#?[A-Za-z][A-Za-z-]+)")
_COUNT = re.compile(r"\s[A-Z]")
_NO_NOUN = frozenset(
    "of in on at to and or is are was were for from with by per out than under over while as a an the so but it"
    " that which when under instead would could can needs need".split()
)
_TO = re.compile(r"\s?(?:to|-|–|…|through|until)\s?$")
_OF = re.compile(r"\s+of\s+(?:(?:the|its|a|that|what|this|all)\s+){0,3}([A-Za-z-]+)")
_BETWEEN = re.compile(r"\bbetween\s(?:about\s)?$", re.IGNORECASE)
_BOUND = re.compile(
    r"\b(?:up to|at most|at least|as (?:low|high|much|little) as|down to|from|peaks?|maximum|minimum|max|min|no more than"
    r"|above|below)\s(?:about )?$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Figure:
    """One figure. `unit` is its unit, or "#gpu" where it names one; `noun` what is counted.

    `about` holds what it is said of, one thing of each kind; `role` whether it is, could
    be, or was claimed; `end` marks an end of an interval, whose other end is `mate` with its decimals;
    `of` are the words after a share: 92 % "of the ceiling"; `gpus` are the cards it is said of, `words` those of its clause.
    """

    text: str
    value: float
    decimals: int
    kilo: bool
    unit: str
    noun: str
    role: str
    end: bool
    denied: bool
    way: str  # "up", "down", or nothing
    about: frozenset[tuple[str, str]]
    gpus: frozenset[int]
    statistic: str
    words: frozenset[str]
    of: frozenset[str]
    mate: tuple[float, int] | None = None

    def says(self, other: Figure) -> bool:
        """Say whether another figure has this value, as far as this one is told."""
        scale = 1000 if self.kilo else 1
        ours = other.value * (1000 if other.kilo else 1)
        value = self.value * scale
        if abs(value - ours) < 1e-9:
            return True
        return other.decimals > self.decimals - 3 * self.kilo and (
            abs(round(ours / scale, self.decimals) - self.value) < 1e-9
        )

    def mated(self, other: Figure) -> bool:
        """Say whether an interval of which this is one end has the other end as well."""
        if self.mate is None or other.mate is None:
            return self.mate is None
        value, decimals = self.mate
        return abs(round(other.mate[0], decimals) - value) < 1e-9


def figures(text: str) -> list[Figure]:
    """Return all figures of a text, in their order."""
    text = plain(text)
    found = _found(text)
    clauses = spans(text)
    units = list(_unit_of(found))
    ends = list(_ends(text, found))
    for n in range(len(found) - 2, -1, -1):  # "239 to 250 W": the unit is told once
        if ends[n] and ends[n + 1] and not units[n]:
            units[n] = units[n + 1]
    gpus = [
        (one.start("number"), int(one["number"]))
        for one, unit in zip(found, units, strict=True)
        if unit == "#gpu" and one["number"].isdigit()
    ]
    made = [
        _figure(text, one, unit, clauses, gpus, end=end)
        for one, unit, end in zip(found, units, ends, strict=True)
    ]
    for n, (one, other) in enumerate(pairwise(found)):
        share = text[one.end() : other.start()].strip() == "of" and "kind" not in one.groupdict()
        if share or (ends[n] and ends[n + 1] and _joins(text[one.end() : other.start()])):
            low, high = made[n], made[n + 1]
            made[n] = replace(low, mate=(high.value, high.decimals))
            made[n + 1] = replace(high, mate=(low.value, low.decimals))
    return made


def _begin(text: str, bounds: list[tuple[int, int]], index: int) -> int:
    """Return where the clause begins, with the one before it where "and" goes on with that."""
    start, stop = bounds[index]
    goes_on = index and text[start:stop].lower().startswith("and ")
    return bounds[index - 1][0] if goes_on else start


def _joins(between: str) -> bool:
    return bool(_TO.fullmatch(f"{between.rstrip()} ")) or between.strip() == "and"


def unfigured(text: str) -> str:
    """Return a text in plain digits with its figures blanked, so that names are left."""
    text = plain(text)
    for one in _found(text):
        start = one.start("number") if one.groupdict().get("id") else one.start()
        text = text[:start] + " " * (one.end() - start) + text[one.end() :]
    return text


def _found(text: str) -> list[re.Match[str]]:
    text = _NAMES.sub(lambda one: "_" * len(one[0]), text)
    found = [*_FIGURE.finditer(text), *_LINK.finditer(text)]
    return sorted(found, key=lambda one: one.start())


def _unit_of(found: list[re.Match[str]]) -> Iterator[str]:
    """Yield the unit of each; numbers of a list share the name before it: GPU 0, 1 and 2."""
    named, carried = "", False
    for one in found:
        groups = one.groupdict()
        if "kind" in groups:
            yield f"#{one['kind'].lower()}"
            named, carried = "", False
            continue
        own = (groups["id"] or "").lower().rstrip("s")
        if own == "card":
            own = "gpu"
        name = own or (named if carried else "")
        unit = groups["unit"] or ""
        carried = bool(groups["more"])
        named = name
        canon = next((each for each, words in CANON if words.match(unit)), "") if unit else ""
        yield canon or (f"#{name}" if name else "")


def _ends(text: str, found: list[re.Match[str]]) -> Iterator[bool]:
    for at, one in enumerate(found):
        before = text[: one.start()]
        after = text[one.end() : found[at + 1].start()] if at + 1 < len(found) else ""
        last = text[found[at - 1].end() : one.start()] if at else ""
        opens = bool(_TO.fullmatch(after.rstrip() + " " if after else "")) or bool(
            _BETWEEN.search(before)
        )
        closes = bool(at and (_TO.fullmatch(last.rstrip() + " " if last else "")))
        closes = closes or bool(at and _BETWEEN.search(text[: found[at - 1].start()]))
        yield opens or closes or bool(_BOUND.search(before[-24:]))


def _figure(
    text: str,
    one: re.Match[str],
    unit: str,
    bounds: list[tuple[int, int]],
    gpus: list[tuple[int, int]],
    *,
    end: bool,
) -> Figure:
    number = one["number"]
    counts = unit == "x" and bool(_COUNT.match(text, one.end()))
    unit = "" if counts else unit  # "2x RTX A6000" is a count, "2x slower" is a ratio
    at = one.start("number")
    index = next(n for n, (_, stop) in enumerate(bounds) if at < stop)
    start, stop = bounds[index]
    clause = text[start:stop]
    noun = None if unit else _OF_NOUN.match(text, one.end()) or _NOUN.match(text, one.end())
    word = noun["noun"].lower() if noun and noun["noun"].lower() not in _NO_NOUN else ""
    return Figure(
        text=one[0].strip(),
        value=float(number.replace(",", "")),
        decimals=len(number.partition(".")[2]),
        kilo=bool(one.groupdict().get("kilo")),
        unit=unit,
        noun=word,
        role=said_of.role(clause, text[start:at], text[one.end() : stop]),
        end=end,
        denied=denied(clause),
        way=said_of.way(text, bounds, index),
        about=frozenset(said_of.about(text, bounds, index, at)),
        gpus=said_of.cards(bounds, index, gpus),
        statistic=said_of.statistic(clause),
        words=stems(text[_begin(text, bounds, index) : stop]),
        of=stems(whole[1])
        if (whole := _OF.match(text, one.end())) and unit == "%"
        else frozenset(),
    )
