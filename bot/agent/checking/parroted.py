"""Words of a host, a file or a person that a sentence takes for its own: they are quoted, or not told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tools.harmless import harmless

RUN = 4  # words in a row that nobody finds by chance
_WORD = re.compile(r"[^\s\"'“”‘’(){}\[\]<>,;:!?|`]+")
_ESCAPED = re.compile(r"\\(?:[ntr\"/]|u[0-9a-fA-F]{4})")  # of JSON, in which most hosts answer
_SAYS = re.compile(
    r"^\W*(?:the |a |this )?(?:\w+ )?(?:log|host|look|file|text|question|person|user|name|server|it|line)s?"
    r" (?:says?|said|tells?|told|shows?|reads?|states?|claims?|prints?|asks?)(?: us| me)?(?: that| so)?\b",
    re.IGNORECASE,
)


def parroted(text: str, raw: Iterable[str], ours: Iterable[str]) -> str | None:
    """Return the words of a text that stand in a row in a raw text and in no line of ours.

    `text` is a sentence without what it quotes; the others are as `joined` returns them. What a host
    prints may be an order or a lie: that it stands there word for word makes no sentence true.
    """
    words = _words(_SAYS.sub("", text))
    size = min(RUN, len(words))
    if not size:
        return None
    runs = [f" {' '.join(words[at : at + size])} " for at in range(len(words) - size + 1)]
    own = tuple(ours)
    foreign = [run for run in runs if not any(run in line for line in own)]
    held = tuple(raw) if foreign else ()
    return next((run.strip() for run in foreign if any(run in one for one in held)), None)


def joined(text: str) -> str:
    """Return a text as its bare words, one blank between two and at both ends."""
    return f" {' '.join(_words(text))} "


def _words(text: str) -> Sequence[str]:
    plain = harmless(" ".join(_ESCAPED.sub(" ", text).split())).lower()
    bare = (word.strip(".…-–—*#=") for word in _WORD.findall(plain))
    return [word for word in bare if word]
