"""Units of figures, as people and programs write them, and the one name of each."""

from __future__ import annotations

import re

_UNITS = {
    "tok/s": r"tok(?:en)?s?\s?/\s?s(?:ec)?|tok(?:en)?s (?:per|a|each) second|t/s|tps",
    "gb/s": r"gb/s",
    "gib/s": r"gib/s",
    "mb/s": r"mb/s",
    "tb/s": r"tb/s",
    "gt/s": r"gt/s",
    "gb": r"gb|gigabytes?",
    "gib": r"gib",
    "mb": r"mb|megabytes?",
    "mib": r"mib",
    "kb": r"kb",
    "kib": r"kib",
    "tb": r"tb",
    "tib": r"tib",
    "mhz": r"mhz",
    "ghz": r"ghz",
    "ms": r"ms|msec|milliseconds?",
    "us": r"[uµμ]s|microseconds?",
    "min": r"min(?:utes?)?",
    "s": r"s(?:ec(?:onds?)?)?",
    "h": r"h(?:ours?)?",
    "w": r"w(?:atts?)?",
    "kw": r"kw",
    "c": r"°\s?c|degrees(?: celsius)?|c(?= |$|[.,;)])",
    "tflops": r"tflops?(?:/s)?",
    "%": r"%",
    "x": r"[x×](?!\d)",
}
UNIT = "|".join(_UNITS.values())
CANON = tuple((name, re.compile(rf"(?:{words})$", re.IGNORECASE)) for name, words in _UNITS.items())
