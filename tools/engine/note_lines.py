"""The lines of a note: cells of a table, headings, runs with their label, and what is none of these."""

from __future__ import annotations

import re

from tools.engine.typed_figures import figures

_RULE = re.compile(r"^[\s|+:=_-]+$")
_GAP = re.compile(r"\t+| {2,}")
_LABEL_END = re.compile(r"[\s:=>|,;(~–—-]+$")
_CLAUSES = re.compile(r"[;,](?=\s)|\s(?:vs\.?|versus|against|/)\s")
_GOOD = re.compile(
    r"\b(?:good|works?|worked|fine|ok(?:ay)?|starts|serves|ready|finished|completed?|stable|clean|correct|pass(?:es|ed)?)\b",
    re.IGNORECASE,
)
_BAD = re.compile(
    r"\b(?:bad|hangs?|hung|crash\w*|dies|died|fail(?:s|ed)?|deadlock\w*|garbage|wrong|stuck|oom|bus error"
    r"|times? out|timeout|nan|broken|does(?: not|n't) (?:start|work)|not ok)\b",
    re.IGNORECASE,
)
_SAYS = re.compile(r"^(?P<label>[^:]{2,120}?)\s*(?::|->|=>|\s{2,}|\|)\s*(?P<said>\S.{0,160})$")
_FIRST = re.compile(
    r"^\W{0,4}(?:git bisect )?(?P<said>good|bad)\b\s*[:=-]?\s*(?P<label>\S.{1,160})$", re.IGNORECASE
)


def is_rule(line: str) -> bool:
    """Say whether a line only draws."""
    return bool(_RULE.match(line))


def cells(line: str) -> list[str]:
    """Return the cells of a row: of a markdown table, of CSV, or of columns kept apart by spaces."""
    text = line.strip()
    if text.count("|") >= 2 or (" | " in text):
        return [cell.strip().strip("`*") for cell in text.strip("|").split("|")]
    if text.count(",") >= 1 and ", " not in text and "  " not in text:
        return [cell.strip() for cell in text.split(",")]
    return [cell.strip() for cell in _GAP.split(text)]


def label_of(text: str) -> str:
    """Return a label without the signs that lead over to its figure."""
    return _LABEL_END.sub("", text).strip().lstrip("#*- \t")[:160]


def outcome(text: str) -> bool | None:
    """Say whether words tell that it worked or did not; None where they tell neither."""
    if _BAD.search(text):
        return False
    return True if _GOOD.search(text) else None


def said_of(line: str) -> tuple[str, bool] | None:
    """Return label and outcome of a line without a figure: "no P2P: hangs", "bad : main"."""
    if first := _FIRST.match(line.strip()):
        return first["label"], first["said"].lower() == "good"
    found = _SAYS.match(line.strip())
    told = outcome(found["said"]) if found else None
    return (found["label"], told) if found and told is not None else None


def kept_whole(text: str) -> list[str]:
    """Return the parts of a line that each tell of a run: "with it 41 tok/s, without it 44".

    A clause without a figure belongs to the next that has one.
    """
    parts: list[str] = []
    held = ""
    for clause in filter(None, map(str.strip, _CLAUSES.split(text))):
        held = f"{held}, {clause}" if held else clause
        if figures(held):
            parts.append(held)
            held = ""
    if held and parts:
        parts[-1] = f"{parts[-1]}, {held}"
    return parts
