"""The small words that turn what a clause says: how many, how much, whether it can, when, and why."""

# ruff: noqa: E501 (patterns)

from __future__ import annotations

import re

# Closed classes of English, each under one name.
_TURNS = {
    "only": r"only|solely|alone|exclusively|merely|nothing (?:but|else)",
    "both": r"both",
    "all": r"all|every|each|always|entir\w+|complet\w+|fully|whole|whichever|everything|wherever",
    "most": r"most|mostly|mainly|largely|chiefly",
    "little": r"little|few|barely|hardly|slightly",
    "least": r"least",
    "more": r"more",
    "less": r"less|fewer",
    "than": r"than|faster|slower|higher|better|worse|larger|bigger|smaller|longer|shorter|(?:is|are|be|gets?) lower|as \w+ as",
    "can": r"can|could|able to|capable of|possible|cannot|can't|couldn't",
    "may": r"may|might|perhaps|possibly|maybe|likely|probably|presumably|seems?|appears?",
    "would": r"would|should|must|ought|expected?",
    "or": r"or|either|otherwise|else",
    "too": r"too|as well|likewise|same|(?<!,) so (?:do|does|is|are|has|have)(?! far)",
    "unless": r"unless",
    "if": r"if|provided|in case|as long as|suppose|assuming",
    "until": r"until|till|by the time",
    "when": r"when|whenever|during|as soon as",
    "while": r"while|whereas|meanwhile",
    "after": r"after|once",
    "before": r"before",
    "idle": r"idle|at rest|drained|nothing running|machine off|consent|permission",  # what a step may ask for
    "whether": r"whether",
    "cause": r"because|since(?! (?:boot|start|the (?:driver|start|boot)))|due to|owing to|thanks to|given that|as a result of|for want of|(?<=, )as(?! if)",
    "so": r"so(?! far| that| many| much| little)|therefore|thus|hence|consequently|which (?:is why|means)|leads? to|results? in",
}  # fmt: skip
_TURN = re.compile(
    "|".join(rf"\b(?P<{name}>{words})\b" for name, words in _TURNS.items()), re.IGNORECASE
)
_BARE = ("can", "may", "would", "all", "only", "both")  # say nothing but how they turn
_BLANK = re.compile(rf"\b(?:{'|'.join(_TURNS[name] for name in _BARE)})\b", re.IGNORECASE)
_OF_FIGURE = re.compile(  # "only 3 %", "only reach 24": a figure is told, and nothing else excluded
    r"\b(?:only|just|merely)(?= (?:(?!gpu|card|rank|node)[a-z]+ )?(?:at |about |some |an? )*(?:gen)?[\d−-])",
    re.IGNORECASE,
)
WHEN = frozenset({"if", "unless", "until", "when", "while", "after", "before", "idle"})
WHY = frozenset({"cause", "so", "goal"})


def turns(text: str) -> frozenset[str]:
    """Return which turns a text takes, each by its name."""
    found = _TURN.finditer(_OF_FIGURE.sub(" ", text))
    return frozenset(one.lastgroup for one in found if one.lastgroup)


def unturned(text: str) -> str:
    """Return a text without the words that only turn it."""
    return _BLANK.sub(" ", text)
