"""What Slack sends becomes what a person wrote: no entities, no markup; pasted blocks apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tools.secrets import scrub

LONGEST = 8000  # characters of a message that are read as its question
EVIDENCE_CHARS, EVIDENCE_LINES = 400, 5  # from here on a code block is evidence, not a name
_WALL_CHARS, _WALL_LINES = 2000, 10  # what is pasted without a code block, below its first line
_LOGGED = re.compile(
    r"^\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d", re.MULTILINE
)  # how a line of a log begins

_FENCE = re.compile(r"```[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
# https://docs.slack.dev/messaging/formatting-message-text: a literal < is always sent as &lt;
_MARKED = re.compile(r"<([^<>|]*)(?:\|([^<>]*))?>")
# each style ends at its next sign that stands in no word, so that every text takes linear time
_STYLED = re.compile(
    "|".join(
        rf"(?<![\w*~_]){sign}(?=\S)((?:[^\n{sign}]|(?<=\w){sign}(?=\w))++)(?<=\S){sign}(?![\w*~_])"
        for sign in (r"\*", "~", "_")
    )
)
_QUOTES = str.maketrans("“”„«»‘’‚\N{NO-BREAK SPACE}", '"""""\'\'\' ', "\u200b\u2060\ufeff")
_SENT_TO_ALL = ("!here", "!channel", "!everyone")


@dataclass(frozen=True)
class Words:
    """The text without markup and secrets, pasted blocks, and whom it mentions.

    `to_us` says that it mentions us; `others` that it mentions a person, a group or everybody.
    """

    text: str
    pasted: tuple[str, ...] = ()
    to_us: bool = False
    others: bool = False


def read(raw: str, us: str) -> Words:
    """Read the `text` of a message; `us` is our own user id, whose mention is taken out."""
    pasted: list[str] = []

    def block(found: re.Match[str]) -> str:
        inside = _unescaped(_MARKED.sub(_shown, found[1])).strip("\n")
        if not is_evidence(inside):
            return f" {found[1]} "
        pasted.append(scrub(inside))
        return "\n"

    marks = [found[1] for found in _MARKED.finditer(_FENCE.sub("", raw))]
    ours = {f"@{us}"}
    text = _MARKED.sub(
        lambda found: "" if found[1] in ours else _shown(found), _FENCE.sub(block, raw)
    )
    text = _plain(_unescaped(text))
    if logged := _LOGGED.search(text):
        pasted.append(scrub(text[logged.start() :]))
        text = text[: logged.start()]
    elif len(text) > _WALL_CHARS and text.count("\n") >= _WALL_LINES:
        text, _, wall = text.partition("\n")
        pasted.append(scrub(wall))
    return Words(
        text=scrub(text[:LONGEST]).strip(),
        pasted=tuple(pasted),
        to_us=any(mark in ours for mark in marks),
        others=any(_somebody(mark) for mark in marks if mark not in ours),
    )


def is_evidence(text: str) -> bool:
    """Say whether a block is long enough to be a log, a table or a listing, or has lines of a log."""
    long = len(text) >= EVIDENCE_CHARS or text.count("\n") + 1 >= EVIDENCE_LINES
    return long or bool(_LOGGED.search(text))


def _somebody(mark: str) -> bool:
    return mark.startswith(("@", "!subteam^", *_SENT_TO_ALL))


def _shown(found: re.Match[str]) -> str:
    """Return what a reader of Slack sees of <...>: the label, or what it names."""
    target, label = found[1], found[2]
    if target.startswith("@"):
        return f"@{(label or target[1:]).lstrip('@')}"
    if target.startswith("#"):
        return f"#{(label or target[1:]).lstrip('#')}"
    if target.startswith("!"):
        return label or f"@{target[1:].partition('^')[0]}"
    return label or target.removeprefix("mailto:").removeprefix("tel:")


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _inside(found: re.Match[str]) -> str:
    return str(found[found.lastindex or 0])


def _plain(text: str) -> str:
    text = text.translate(_QUOTES).replace("`", "")
    text = _STYLED.sub(_inside, _STYLED.sub(_inside, text))
    lines = (" ".join(line.removeprefix("> ").split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)
