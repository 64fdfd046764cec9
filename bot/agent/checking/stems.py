"""Words without their endings, and those that carry no meaning of their own left out."""

# ruff: noqa: E501, SIM905 (patterns and lists of words)

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*[A-Za-z]|[A-Za-z]")
_STATE = re.compile(  # "is off", "switched on", "are down"; elsewhere these words say no state
    r"\b(is|are|was|were|be|been|being|stays?|remains?|switch(?:es|ed)?|turn(?:s|ed)?|goes|went|put|not|now|graphs?|link)"
    r" (?:\w+ )?(on|off|up|down)\b(?! (?:the|a|an|its|this|that|these|each|every|one|to|by|here|prompts?|cold|long|\d))",
    re.IGNORECASE,
)
_ABLED = re.compile(r"\b(?:dis|en)abled\b", re.IGNORECASE)
_PARTS = re.compile(r"[-_'/]")
_EMPTY = frozenset(
    "a an the this that these those it its is are was were be been being am do does did done has have had having of in"
    " at to for from by with as and or but so than then there here which what when where who how if while whereas"
    " because since although though into onto over under about around per each i you we they he she my your our their"
    " me us them will would shall may might can could should also very just more most much many some any other such"
    " one ones only both own same s t re ve ll d out through on off up down stay stays remain remains wait waits still between during before after again further once"
    " still even yet too already now nearly roughly approximately almost quite rather instead however therefore thus"
    " hence mainly mostly largely say says said show shows shown see seen look looks take takes give gives given get"
    " gets got make makes made mean means meaning call called find found tell tells told come comes go goes let lets"
    " thing things way ways part parts kind case word words short sum summary overall result results not no".split()
)
_ENDINGS = "ations ation ings ing edly ness ies ied ers est ely ed er es ly s e".split()
_LEAST = 3
# Words for one thing, so that a paraphrase is known as one.
_SAME = {
    "card": "gpu", "token": "tok", "second": "s", "rate": "speed", "rule": "exclud", "ruled": "exclud",
    "utiliz": "utilis", "generat": "decod", "writ": "decod", "slot": "slot", "engin": "engine",
    "config": "configur", "setting": "configur", "cause": "caus", "reason": "caus", "culprit": "caus",
    "expens": "cost", "los": "cost", "lost": "cost", "slower": "slow", "suffer": "slow", "capabl": "do",
    "repair": "repair", "fix": "repair",
}  # fmt: skip


def stem(word: str) -> str:
    """Return a word without its ending."""
    low = word.lower()
    for ending in _ENDINGS:
        if low.endswith(ending) and len(low) - len(ending) >= _LEAST:
            low = low[: -len(ending)]
            break
    return _SAME.get(low, low)


def stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning; of on, off, up and down where they say a state."""
    text = _STATE.sub(lambda found: f"{found[1]} {found[2]}state", text)
    text = _ABLED.sub(lambda found: "offstate" if found[0][0] in "dD" else "onstate", text)
    found = (part for word in _WORD.findall(text) for part in _PARTS.split(word))
    return frozenset(stem(one) for one in found if one.lower() not in _EMPTY and len(one) > 1)
