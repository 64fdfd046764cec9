"""What a figure is said of, and in which sense: measured, possible or claimed; a gain or a loss."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

# What a figure can be said of: of each group one thing at a time, and the nearest counts.
_GROUPS: dict[str, tuple[tuple[str, str], ...]] = {
    "phase": (
        ("decode", r"decod\w*|writing|generat\w+"),
        ("prefill", r"prefill\w*|(?:cold |long )?prompts?\b|reading"),
        ("ttft", r"ttft|first[- ]token"),
    ),
    "state": (("idle", r"at rest|\bidle"), ("load", r"under load|at work|\bbusy")),
    "part": (
        ("weights", r"\bweights?\b"),
        ("kernels", r"\bkernels?\b"),
        ("links", r"\blinks?\b|\bpcie\b"),
        ("host", r"\bhost\b"),
        ("unexplained", r"\bunexplained"),
    ),
    "clock": (("memory", r"\bmemory\b"), ("sm", r"\bsm\b")),
}
_SUBJECTS = {
    group: tuple((name, re.compile(words, re.IGNORECASE)) for name, words in rows)
    for group, rows in _GROUPS.items()
}
_POSSIBLE = re.compile(
    r"\b(?:can(?:not)?|could|would|should|ceiling|repaired|possible|instead of|rather than|expect(?:ed)?|within reach"
    r"|needs?|needed|requires?|capable|supports?|limit|potential|roofline|theoretical|ideal|healthy)\b|\bof (?:gen|x)$",
    re.IGNORECASE,
)
_POSSIBLE_AFTER = re.compile(
    r"\b(?:is|are) possible|\bwithin reach|\breachable|^\W*(?:tok/s )?is (?:what|all)\b.*\bcan\b"
    r"|^\W*(?:tok/s )?(?:is |are )?(?:the |its |a )?ceiling",
    re.IGNORECASE,
)
_WHOLE = re.compile(  # what a share is a share of: 177 W of 350 W
    r"\d ?(?:%|[a-z]{1,3}(?:/s)?)? of (?:(?:the|its|a|that|all) )?$", re.IGNORECASE
)
_CLAIMED = re.compile(
    r"\b(?:before|remember(?:ed)?|claimed?|you (?:say|said|saw)|used to|earlier|yesterday)\b",
    re.IGNORECASE,
)
_UP = re.compile(
    r"\b(?:faster|gain\w*|improv\w+|increas\w+|rais\w+|rise[sn]?|speed-?ups?|better|higher|boost\w*|grow\w*)\b|\+(?=\d)",
    re.IGNORECASE,
)
_DOWN = re.compile(
    r"\b(?:cost\w*|los(?:e[sn]?|t|s|ses|ing)|slow\w*|less|lower\w*|fewer|drop\w*|decreas\w+|fall\w*|reduc\w+|worse|penalty"
    r"|takes away)\b|[-−](?=\d)",
    re.IGNORECASE,
)
_STATISTIC = re.compile(r"\b(?:median|mean|average|p\d\d|typical(?:ly)?|in total|total)\b", re.I)

Spans = Sequence[tuple[int, int]]


def role(clause: str, before: str, after: str) -> str:
    """Say whether a figure "is", is "possible", was "claimed", or is a "whole"; before and after it in its clause."""
    if _WHOLE.search(before):
        return "whole"
    if _POSSIBLE.search(before) or _POSSIBLE_AFTER.search(after):
        return "possible"
    return "claimed" if _CLAIMED.search(clause) else "is"


def way(text: str, spans: Spans, index: int) -> str:
    """Return "up" or "down" by the clause of a figure, else by the clauses before it."""
    return next((one for n in range(index, -1, -1) if (one := _way(text[slice(*spans[n])]))), "")


def _way(clause: str) -> str:
    return "up" if _UP.search(clause) else "down" if _DOWN.search(clause) else ""


def statistic(clause: str) -> str:
    """Return the statistic that a clause names: a median is no mean."""
    found = _STATISTIC.search(clause)
    return found[0].lower() if found else ""


def about(text: str, spans: Spans, index: int, at: int) -> Iterator[tuple[str, str]]:
    """Yield for each group the nearest thing named: in the clause, before the figure, else earlier."""
    for group, rows in _SUBJECTS.items():
        for n in range(index, -1, -1):
            start, stop = spans[n]
            places = [
                (found.start(), name)
                for name, words in rows
                for found in words.finditer(text, start, stop)
            ]
            if places:
                before = [place for place in places if place[0] < at]
                yield group, max(before)[1] if before else min(places)[1]
                break


def cards(spans: Spans, index: int, gpus: Sequence[tuple[int, int]]) -> frozenset[int]:
    """Return the GPUs of the nearest clause that names any; `gpus` holds where each stands."""
    for n in range(index, -1, -1):
        start, stop = spans[n]
        if inside := [number for at, number in gpus if start <= at < stop]:
            return frozenset(inside)
    return frozenset()
