"""A text as it is read: one width, one script, letters not drawn out, slips of the finger mended."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from bot.question.chinese import in_english_words

_SIGNS = str.maketrans(
    {"。": ". ", "、": ", ", "‘": "'", "’": "'", "“": '"', "”": '"', "「": '"', "」": '"', "~": " "}
)
_ARROW = re.compile(r"\s*(?:[→⇒➜➔]|[-=]+>)\s*")
_DRAWN_OUT = re.compile(r"([a-z])\1{2,}", re.IGNORECASE)
_WORD = re.compile(r"(?<![\w./@-])[a-z]{5,}(?![\w./@-])", re.IGNORECASE)
LONGEST = 4000  # characters of a question that are read; nobody asks at greater length
_LONG = 6  # letters; one slip in a shorter word may make it another one
# What a question turns on, and is long enough that one slip does not make it another word.
_MEANT = frozenset({
    "decode", "decoding", "prefill", "throughput", "latency", "concurrent", "concurrency", "thermal", "throttling",
    "throttled", "speculative", "utilization", "utilisation", "bandwidth", "generation", "performance",
})  # fmt: skip


@lru_cache(maxsize=256)
def plain(text: str) -> str:
    """Return a text for the readers of hosts, rates and topics; never shown, and harmless to repeat."""
    text = unicodedata.normalize("NFKC", text[:LONGEST]).translate(_SIGNS)
    text = _ARROW.sub(" -> ", in_english_words(text))
    return _WORD.sub(lambda found: _mended(found[0]), text)


def _mended(word: str) -> str:
    word = _DRAWN_OUT.sub(r"\1", word)
    low = word.lower()
    if len(low) < _LONG or low in _MEANT:
        return word
    return next((meant for meant in sorted(_MEANT) if _one_slip(low, meant)), word)


def _one_slip(word: str, meant: str) -> bool:
    """Say whether one letter is missing, too many, wrong, or has changed places with its neighbour."""
    if abs(len(word) - len(meant)) > 1 or word[0] != meant[0]:
        return False
    at = next(
        (n for n, (a, b) in enumerate(zip(word, meant, strict=False)) if a != b),
        min(len(word), len(meant)),
    )
    rest, wanted = word[at:], meant[at:]
    return (
        rest[1:] == wanted[1:]
        or rest[1:] == wanted
        or rest == wanted[1:]
        or (rest[:2] == wanted[:2][::-1] and rest[2:] == wanted[2:])
    )
