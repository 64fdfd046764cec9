"""Figures as people type them: a number, its unit, what was measured, and how far repeated runs differ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from statistics import fmean as mean

from tools.engine.trial import Figure

_UNITS: tuple[tuple[str, str, float], ...] = (
    (
        r"tok(?:en)?s?\s?(?:/|per )\s?s(?:ec(?:onds?)?)?|tok s|tps|t/s",
        "tok/s",
        1.0,
    ),
    (r"(?:req(?:uest)?s?|rps|qps)(?:\s?(?:/|per )\s?s(?:ec(?:ond)?)?|(?<=ps))", "req/s", 1.0),
    (r"GiB/s", "GB/s", 1.074),
    (r"GB/s(?:ec)?|GBps", "GB/s", 1.0),
    (r"MB/s(?:ec)?|MBps", "GB/s", 1e-3),
    (r"Gbit/s(?:ec)?|Gb/s(?:ec)?|Gbps", "GB/s", 0.125),
    (r"ms(?:ec)?|milliseconds?", "ms", 1.0),
    (r"[uµμ]s(?:ec)?", "ms", 1e-3),
    (r"s(?:ec(?:onds?)?)?", "ms", 1e3),
    (r"%", "%", 1.0),
    (r"relative(?: \w+)?|speed-?up", "x", 1.0),
)
UNIT = "|".join(form if unit != "tok/s" else f"(?i:{form})" for form, unit, _ in _UNITS)
_FORMS = tuple(
    (re.compile(form, re.IGNORECASE if unit != "GB/s" else 0), unit, factor)
    for form, unit, factor in _UNITS
)
_NUMBER = r"[+-]?\d{1,9}(?:,\d{3})*(?:\.\d{1,6})?"
# Atomic, and with one way to read each gap: a row of numbers without a unit costs its length, no power of it.
_MOST_RUNS = rf"(?P<runs>(?>{_NUMBER}(?:(?:\s{{1,6}}(?:/\s?|[,;]\s)?|/\s?|[,;]\s){_NUMBER}){{0,12}}))(?P<k>k(?![a-z]))?"
_SPREAD = r"(?:\s?\(?(?:±|\+/?-)\s?(?P<spread>\d+(?:\.\d+)?)\)?)?"
_FIGURE = re.compile(
    rf"(?<![\w.,/=:@#<+-])(?<!-\s){_MOST_RUNS}\s?{_SPREAD}\s?(?P<unit>{UNIT})(?P<more>\s?(?:±|\+/?-)\s?\d+(?:\.\d+)?)?(?![\w/])"
)
BARE = re.compile(rf"(?<![\w.,/=:@#<-])(?P<runs>{_NUMBER})(?P<k>k)?{_SPREAD}(?![\w/%])")
UNIT_WORD = re.compile(rf"(?<![\w/])(?:{UNIT})(?![\w/])", re.IGNORECASE)
MOST = 16  # figures of a line that somebody typed; a line with more tells of no run
NEAR = 1.5  # figures of one list are repeated runs if they differ by less than this factor
_OF = (  # what, in which units it is told, and the words for it
    ("kernel", ("ms",), r"\bkernel|per call|all[-_ ]?reduce|out of place"),
    ("ttft", ("ms", "%"), r"\bttft|first[- ]token"),
    ("itl", ("ms", "%"), r"\bitl\b|\btpot\b|between tokens|inter[- ]token|token gap"),
    ("load", ("ms",), r"\bload(?:ing|ed)?\b|start(?:-?up| time| takes)"),
    ("decode", ("tok/s", "ms", "%"), r"decode|\bgen(?:eration)?\b|single[- ](?:stream|request)"),
    (
        "prefill",
        ("tok/s", "ms", "%"),
        r"prefill|prompt (?:processing|eval)|\binput (?:tok|throughput)",
    ),
    ("total", ("tok/s", "req/s", "%"), r"throughput|\btotal|aggregate|all users|\bsum\b"),
)
_NAMES = tuple((name, units, re.compile(words, re.IGNORECASE)) for name, units, words in _OF)
_TAIL = re.compile(r"\bp9[0-9]|\bmax\b|worst", re.IGNORECASE)


@lru_cache(maxsize=512)
def figures(text: str, around: str = "") -> tuple[tuple[int, int, Figure], ...]:
    """Return the figures with a unit in a text, with where each begins and ends; `around` tells of what."""
    matches = list(islice(_FIGURE.finditer(text), MOST + 1))
    found = []
    for match in matches if len(matches) <= MOST else ():
        unit, factor = unit_of(match["unit"])
        if unit == "%" and match["runs"][0] not in "+-":
            continue  # a share or a setting; only a change is a result
        values = [float(part.replace(",", "")) for part in re.findall(_NUMBER, match["runs"])]
        alike = _alike(values) if unit != "%" else values[-1:]
        skipped = len(values) - len(alike)
        begin = match.start() + _nth(match["runs"], skipped)
        more = match["more"]
        told = match["spread"] or (re.sub(r"[^\d.]", "", more) if more else None)
        factor *= 1000.0 if match["k"] else 1.0
        spread = float(told) * factor if told else _half(alike) * factor if len(alike) > 1 else None
        near = text[max(0, begin - 60) : match.end() + 24]
        of = measured(near, unit) or measured(around, unit)
        found.append(
            (
                begin,
                match.end(),
                Figure(
                    value=round(mean(alike) * factor, 4),
                    unit=unit,
                    of=of,
                    runs=len(alike),
                    spread=spread,
                ),
            )
        )
    return tuple(found)


def bare(cell: str, heading: str, more: str = "") -> Figure | None:
    """Return the figure of a cell whose heading tells the unit; None where either is no such thing."""
    if inside := figures(cell, f"{heading} {more}"):
        return inside[0][2]
    number, unit = BARE.match(cell.strip()), unit_word(heading)
    if number is None or unit is None:
        return None
    name, factor = unit_of(unit)
    values = [float(part.replace(",", "")) for part in re.findall(_NUMBER, cell)]
    alike = _alike(values[:12])
    factor *= 1000.0 if number["k"] else 1.0
    told = float(number["spread"]) * factor if number["spread"] else None
    spread = told if told is not None else _half(alike) * factor if len(alike) > 1 else None
    value = alike if told is None else values[:1]
    return Figure(
        value=round(mean(value) * factor, 4),
        unit=name,
        of=measured(heading, name) or measured(more, name),
        runs=len(value),
        spread=spread,
    )


def unit_of(text: str) -> tuple[str, float]:
    """Return the unit in which a figure is kept, and by what it is multiplied."""
    told = text.strip()
    return next((unit, factor) for form, unit, factor in _FORMS if form.fullmatch(told))


def unit_word(heading: str) -> str | None:
    """Return the unit that a heading names: "decode tok/s", "p99_itl_ms"; "gb/s" may be either."""
    found = UNIT_WORD.search(heading.replace("_", " "))
    known = found and any(form.fullmatch(found[0]) for form, _, _ in _FORMS)
    return found[0] if found and known else None


def measured(text: str, unit: str) -> str:
    """Say what was measured, as far as the words tell; "tail" after a comma for the slowest of many."""
    words = text.replace("_", " ")
    name = next((name for name, units, form in _NAMES if unit in units and form.search(words)), "")
    return f"{name},tail" if unit == "ms" and _TAIL.search(words) else name


def _alike(values: Sequence[float]) -> list[float]:
    """Return the last figures that are of one kind: repeated runs are near each other."""
    kept = [values[-1]]
    for value in reversed(values[:-1]):
        low, high = sorted((abs(value), abs(kept[0])))
        if high > NEAR * low:
            break
        kept.insert(0, value)
    return kept


def _half(values: Sequence[float]) -> float:
    return (max(values) - min(values)) / 2


def _nth(runs: str, skipped: int) -> int:
    return [found.start() for found in re.finditer(_NUMBER, runs)][skipped]
