"""What stands before a message in a log of SGLang: a time, and the rank that speaks."""

from __future__ import annotations

import re
from typing import NamedTuple

# `[%(asctime)s{prefix}] %(message)s`; the ranks that a version prints, and SGLANG_LOG_MS (0.5.6).
_PREFIX = re.compile(
    r"\[?(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?((?: (?:DP|PP|TP|EP|ATTN_CP|MOE_DP)\d{1,5}){0,6})\]? ?"
)
# SGLANG_LOGGING_CONFIG_PATH and logging.basicConfig put a level, a process and a file before it.
_LEVEL = re.compile(
    r"(?:- )?(?:INFO|WARNING|WARN|ERROR|DEBUG|CRITICAL)(?::[\w.]{3,80}:|\s+(?=\[|\d+ \[|-)|:?\s{1,8}(?:- )?)"
    r"(?:\d{1,9} )?(?:\[[\w.]{1,80}:\d{1,6}\] )?"
)
# people who shorten a log leave the clock
_CLOCK = re.compile(
    r"\[(\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?((?: (?:DP|PP|TP|EP|ATTN_CP|MOE_DP)\d{1,5}){0,6})\] ?"
)
_LOOK = 300  # a prefix lies within so many characters


class Said(NamedTuple):
    """A message, when it was said and by which rank."""

    message: str
    at: str | None
    rank: str
    prefixed: bool


def said(line: str) -> Said:
    """Take a line apart; the last of several prefixes on it counts."""
    found = _PREFIX.search(line, 0, _LOOK) or _CLOCK.match(line)
    if found is None:
        level = _LEVEL.match(line)
        return Said(line[level.end() :] if level else line, None, "", prefixed=bool(level))
    at, rank, rest = found[1], found[2], line[found.end() :]
    for _ in range(3):
        inner = _PREFIX.match(rest)
        if inner is None or not rest.startswith("["):
            break
        at, rank, rest = inner[1], inner[2] or rank, rest[inner.end() :]
    level = _LEVEL.match(rest)
    return Said(
        rest[level.end() :] if level else rest, at.replace("T", " "), rank.strip(), prefixed=True
    )
