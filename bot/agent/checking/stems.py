"""Words without their endings, in their order, and those that carry no meaning of their own left out."""

# ruff: noqa: E501, SIM905 (patterns and lists of words)

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.agent.checking.units import UNIT
from bot.narrator.answers import TOPICS

_WORD = re.compile(
    r"(?<![\w-])--?[a-z][\w-]+(?:=[^\s,;)]+)?"
    rf"|(?<![\w.:/-])(?P<number>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:\s?(?P<unit>{UNIT})(?!\w)|(?![\w:/-]|\.\d))"
    r"|(?P<link>\b(?:gen|x)\d{1,2}\b)|[a-z][a-z'-]*[a-z]|[a-z]",
    re.IGNORECASE,
)
_SHARE_OF = re.compile(
    r"\d(?: ?[a-z%]{1,5})? of (?:the |its )?$", re.IGNORECASE
)  # what a share is a share of
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
    " me us them will would shall may might can could should also very just more most much many some any such"
    " one ones only both own s t re ve ll d out through on off up down stay stays remain remains sit sits stand stands stuck lie lies today currently afterwards between during before after again further once"
    " still even yet already now nearly roughly approximately almost quite rather instead however therefore thus"
    " hence mainly mostly largely say says said show shows shown see seen look looks take takes give gives given get"
    " gets got make makes made mean means meaning call called find found tell tells told come comes go goes "
    " thing things way ways part parts kind case word words sum summary overall result results not no neither nor none never nothing nobody without cannot until till unless whenever".split()
)
_ENDINGS = "ations ation ings ing edly ness ies ied ers est ely ed er es ly s e".split()
_LEAST = 3


def _bare(word: str) -> str:
    low = word.lower()
    for ending in _ENDINGS:
        if low.endswith(ending) and len(low) - len(ending) >= _LEAST and low[-2:] != "ss":
            return low[: -len(ending)]
    return low


# Words for one thing, so that a paraphrase is known as one. Each line begins with the word that our rules use.
_GROUPS = (
    "gpu card", "tok token", "s second", "speed rate", "utilisation utilization", "decode generation writing", "config configuration setting",
    "speculation draft", "cost expense lost lose loses loss losses suffer penalty hurt harm", "slow slower", "fix repair mend cure restore recover", "low lower lowered reduce decrease shrink",
    "raise increase", "accept accepted", "memory memories", "capacity capacities", "guest lxc container", "use used using", "let allow permit",
    "cross span straddle", "forbid prohibit block", "refuse reject decline", "reach achieve attain", "full exhausted", "miss lack",
    "need require", "split spread", "wait queue queued", "start launch", "log logged", "report reported", "run ran running operate", "keep kept",
    "hold held contain include", "fall fell fallen", "send sent route", "draw drew drawn", "prompt prompts",
    "joined connected attached", "build built", "hot overheat", "vendor manufacturer", "step iteration",
    "turn round", "chat conversation", "library lib", "variable envvar", "text answer",
)  # fmt: skip
_SAME = (
    {
        _bare(layer): _bare(
            name
        )  # what the catalogue calls a layer, and what we call it; "gpu" is called by what goes wrong with it
        for layer, name in TOPICS.items()
        if layer.isalpha() and name.isalpha() and layer != "gpu"
    }
    | {_bare(other): _bare(words.split()[0]) for words in _GROUPS for other in words.split()[1:]}
)


def stem(word: str) -> str:
    """Return a word without its ending."""
    low = _bare(word)
    return _SAME.get(low, low)


def sequence(text: str) -> tuple[str, ...]:
    """Return the stems of the words that carry meaning, in their order.

    On, off, up and down are among them where they say a state; flags as they are, the generation and width of links too;
    numbers as "#55", but for small counts.
    """
    text = _STATE.sub(lambda found: f"{found[1]} {found[2]}state", text)
    text = _ABLED.sub(lambda found: "offstate" if found[0][0] in "dD" else "onstate", text)
    return tuple(_stemmed(text))


def _stemmed(text: str) -> Iterator[str]:
    for found in _WORD.finditer(text):
        if found["number"]:
            value = found["number"].replace(",", "")
            small = not found["unit"] and len(value) == 1  # is said in other words as well
            if not small and not _SHARE_OF.search(text, 0, found.start()):
                yield f"#{value}"
        elif found[0].startswith("-") or found["link"]:
            yield found[0].lower()
        else:
            yield from _parts(found[0])


def _parts(word: str) -> Iterator[str]:
    for part in _PARTS.split(word):
        if len(part) > 1 and part.lower() not in _EMPTY:
            yield stem(part)


def alike(said: str, ours: str) -> bool:
    """Say whether two stems are one: the same, or numbers of which the first is the second, rounded or not."""
    if said == ours or said[0] != "#" or ours[0] != "#":
        return said == ours
    return round(float(ours[1:]), len(said.partition(".")[2])) == float(said[1:])


def stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning."""
    return frozenset(one for one in sequence(text) if one[0] not in "-#" and not one[-1].isdigit())
