"""Whether a text asks to compare two hosts with each other, in English or Chinese; pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from bot.question.names import hosts
from bot.question.plain import LONGEST, plain

_THAN = r"(?:faster|slower|quicker|better|worse|higher|lower|more|less|longer|shorter|cheaper|hotter|cooler)"
_TIMES = r"(?:yesterday|last|before|earlier|previous(?:ly)?|the (?:last|previous|old)|a? ?(?:week|month|day)s? ago)"
_ENGLISH = re.compile(
    rf"\bcompar(?:e|es|ed|ing|ison)\b(?! (?:to|with) {_TIMES})|\b(?:vs|versus)\b"
    rf"|\b{_THAN}\b[^.?!]{{0,60}}\bthan\b|\bwhich (?:one |host |of them )?is (?:\w+ )?{_THAN}\b"
    r"|\b\d(?:\.\d+)?x (?:of|as)\b|\bdiff(?:er|ers|erent|erence|erences)?\b|\bgap between\b|\bside by side\b"
    r"|\b(?:as|so) (?:fast|slow|quick|good|bad) as\b|\bsame (?:as|speed)\b|\bunlike\b|\bagainst\b",
    re.IGNORECASE,
)
# "CT129 is slow but CT130 is fine": one host on each side of the word.
_TURNS = re.compile(r"\b(?:but|while|whereas|yet|though)\b(?! not\b)", re.IGNORECASE)
# "比较慢" is "rather slow" and compares nothing.
_RATHER = re.compile(r"比较(?=[慢卡快差高低好热大小])")
_CHINESE = re.compile(
    r"(?<!对)比(?![较例如])|相比|对比|比较|差距|差别|差异|差多少|区别|不同|不一样|一样[快慢]|没有.{0,12}[快慢]|哪[个台].{0,4}[快慢好]"
)


def comparing(text: str, known: Collection[str] = ()) -> tuple[str, str] | None:
    """Return the two hosts that are to be compared, in the order in which they are named; None where none are."""
    text = _RATHER.sub("", unicodedata.normalize("NFKC", text[:LONGEST]))
    read = plain(text)
    named = hosts(text, known)[0]
    if len(named) != 2:
        return None
    if _ENGLISH.search(read) or _CHINESE.search(text) or _turned(read, known):
        return named[0], named[1]
    return None


def _turned(read: str, known: Collection[str]) -> bool:
    halves = _TURNS.split(read, maxsplit=1)
    if len(halves) != 2:
        return False
    named = [hosts(half, known)[0] for half in halves]
    return all(len(one) == 1 for one in named)
