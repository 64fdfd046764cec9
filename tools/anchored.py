"""A pattern tried only where words stand that its finds begin with: words are found many times faster."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator


def finds(pattern: re.Pattern[str], words: Iterable[str], text: str) -> Iterator[re.Match[str]]:
    """Yield what `pattern.finditer(text)` does, if each of its finds begins with one of the words."""
    done = 0
    for at in sorted(place for word in words for place in _places(word, text)):
        if at >= done and (found := pattern.match(text, at)):
            done = found.end()
            yield found


def _places(word: str, text: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)
