"""A model's text as sentences: without marks of any medium, each with the evidence ids that it cites."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tools.harmless import harmless
from tools.secrets import scrub

MOST = 14  # sentences of one answer that are read
LONGEST = 420  # characters of one of them
_READ = 8000  # characters of an answer
_CITED = re.compile(r"[ \t]*[\[(（【]\s*(E\d{1,3}(?:\s*(?:,|;|and|&|-)?\s*E\d{1,3})*)\s*[\])）】]")
_ID = re.compile(r"(?<![\w-])E\d{1,3}(?!\w)")
_MARKS = re.compile(
    r"^\s*(?:[-*•>#]+|\d{1,2}[.)])\s+|\*\*|__(?=\S)|(?<=\S)__|^\s*```\w*\s*$", re.MULTILINE
)
_END = re.compile(r"(?<=[.!?])(?:[\"”'’)]*)(?=\s+[A-Z\"“(\[0-9-])|\n+|(?<=[。！？])")
_SHORT = re.compile(r"(?:\b(?:e\.g|i\.e|vs|etc|approx|no|cf|resp|incl)|^\d{1,2})\.$", re.IGNORECASE)
_WHOLE = re.compile(r"[.!?:][\"”'’)]*$")
# What leads somewhere, addresses somebody, or is a command: none of our sentences holds such.
_STRANGE = re.compile(
    r"://|\bwww\.|\bhttps?\b|[\w.-]+@[\w-]|(?<!\w)@\w|<[^\s\d=]|!\[|\]\(|[|;&]\s*(?:sh|bash|curl|rm|sudo)\b|\$\(|\$\{|&&"
    r"|\b(?:sudo|curl|wget|rm -|chmod|mkfs|eval|base64|nc -|ssh |scp )|\{\s*[\"']|[`|]{2,}|>\s*/|\brm\b"
    r"|\bgithub\.com\b|\.(?:com|net|org|io|ru|cn|xyz|sh)\b|:\w+:|\b[a-z][\w-]*\.[a-z]{2,}/\w",
    re.IGNORECASE,
)
_FOREIGN = re.compile(r"[^\x00-ɏ‐-‧‰-›µμ°±×−≥≤≈→·…%￼²³€]")


@dataclass(frozen=True)
class Sentence:
    """One sentence and the ids it cites, as they were written. `whole` says that it has an end."""

    text: str
    cites: tuple[str, ...]
    whole: bool = True


def tidy(text: str) -> str:
    """Return a text in one line, without secrets and what is not printed."""
    return " ".join(harmless(scrub(text[:_READ])).split())


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of an answer."""
    bare = _MARKS.sub("", scrub(text[:_READ]))
    return [made for one in _split(bare) if (made := _made(one))][:MOST]


def strange(text: str) -> str | None:
    """Say what a text holds that none of ours does: an address, a mention, a command, other letters."""
    if _STRANGE.search(text):
        return "it holds an address, a mention or a command"
    if _FOREIGN.search(text):
        return "it holds letters that cannot be checked"
    return None


def _split(text: str) -> list[str]:
    pieces: list[str] = []
    start = 0
    for cut in _END.finditer(text):
        piece = text[start : cut.end()]
        if _SHORT.search(piece.strip()) and "\n" not in cut[0]:
            continue
        pieces.append(piece)
        start = cut.end()
    pieces.append(text[start:])
    return _joined(pieces)


def _joined(pieces: list[str]) -> list[str]:
    """Give ids that stand behind a full stop to the sentence before it."""
    joined: list[str] = []
    for piece in pieces:
        found = re.match(rf"\s*(?:{_CITED.pattern})\.?", piece)
        if found and joined:
            joined[-1] += found[0].rstrip(".")
            piece = piece[found.end() :]
        if piece.strip():
            joined.append(piece)
    return joined


def _made(text: str) -> Sentence | None:
    cites = dict.fromkeys(_ID.findall(text))
    bare = " ".join(harmless(_CITED.sub("", text)).split())
    bare = re.sub(r"\s+([.,;:!?])", r"\1", bare).strip()
    if not re.search(r"\w", bare):
        return None
    return Sentence(bare, tuple(cites), bool(_WHOLE.search(bare)))
