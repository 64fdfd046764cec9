"""A sentence in pieces, and what joins each to the one before: cause, consequence, purpose, time."""

# ruff: noqa: E501 (patterns)

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.agent.checking.turns import WHEN, WHY, turns

_CUT = re.compile(
    r"(?P<sign>\s*(?:[;:()·|—]|[,.!?](?=\s|$)|\s[–-](?=\s))\s*)"
    r"|\b(?P<word>(?:and|but|although|though|even though|then|yet|which|while|whereas|even when|when|whenever|because(?: of)?|since"
    r"|due to|owing to|so that|so|therefore|thus|hence|if|unless|until|after|before|once|as long as|in order to)\b)"
    r"|(?P<nor>(?=\bnor\b))|(?P<as>(?<=, )as(?! if)\b)"
    r"|(?P<to>(?:(?<=\s)|^)to (?=(?!(?:the|a|an|it|its|this|that|what|another|other|be|come|turn)\b|\d)[a-z]+ ))",  # and a verb
    re.IGNORECASE,
)
_MARKS = frozenset(";:()·|—–-")
_NAMED = {"which": "which", "so that": "goal", "in order to": "goal", "due to": "cause", "owing to": "cause"}  # fmt: skip


@dataclass(frozen=True)
class Piece:
    """One piece of a text: where it begins and ends without the word that joins it, and how it is joined."""

    start: int
    stop: int
    joint: str = "add"  # "which", else a name of WHY or WHEN
    marked: bool = False  # a colon, a semicolon or a bracket stands before it

    def of(self, text: str) -> str:
        """Return what of the text it is."""
        return text[self.start : self.stop]


def pieces(text: str) -> list[Piece]:
    """Return the pieces of a text, in their order."""
    made: list[Piece] = []
    start, joint, marked = 0, "add", False
    for cut in (*_CUT.finditer(text), None):
        stop = cut.start() if cut else len(text)
        if re.search(r"\w", text[start:stop]):
            made.append(Piece(start, stop, joint, marked))
            joint, marked = "add", False
        if cut:
            name = "add" if cut["sign"] else _name(cut)
            start, joint = cut.end(), joint if name == "add" else name
            marked = marked or cut[0].strip() in _MARKS
    return made


def _name(cut: re.Match[str]) -> str:
    """Return how a word joins."""
    word = cut[0].strip().lower()
    if cut["to"] or cut["as"]:
        return "goal" if cut["to"] else "cause"
    return _NAMED.get(word) or next(iter(turns(word) & (WHY | WHEN)), "add")
