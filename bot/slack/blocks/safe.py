"""Text of hosts, files and people, so that Slack shows it and never obeys it."""

from __future__ import annotations

import re
from collections.abc import Callable

from tools.harmless import harmless

_JOINER = "\u2060"  # word joiner: not seen, and neither a mention nor a link goes over it
_NAMED = re.compile(r"[@#](?=\w)")
_SCHEME = re.compile(r":(?=//)")
_MAIL = re.compile(r"\b(?:mailto|tel)(?=:)", re.IGNORECASE)
_DOMAIN = re.compile(r"(?<=\w)(?=\.[^\W\d_])")  # Slack makes links of evil.com and www.evil.com
_LABELLED = re.compile(r"\](?=[(\[:])")
_EDGE = re.compile(r"(?<!\w)_|_(?!\w)")
_LOOKALIKE = str.maketrans({"*": "∗", "~": "∼", "`": "'", "\\": "⧵"})
_ANGLES = str.maketrans({"<": "‹", ">": "›"})
_OPENS = re.compile(r"[#>+=|:-]|\d+[.)]")  # what begins a heading, a quote, a list or a table


def size(text: str) -> int:
    """Count characters as Slack's clients do: what lies beyond U+FFFF, an emoji, is two."""
    return len(text) + sum(char > "\uffff" for char in text)


def capped(text: str, most: int) -> str:
    """Return at most so many characters, the last of them an ellipsis where some are missing."""
    if size(text) <= most:
        return text
    kept = text[: most - 1]
    while (over := size(kept) - (most - 1)) > 0:
        kept = kept[: -((over + 1) // 2)]
    return kept.rstrip() + "…"


def shown(text: str, most: int) -> str:
    """Return one line without controls and bidi overrides, for an element that Slack never parses."""
    return capped(harmless(capped(text, most * 2)), most).strip()


def label(text: str, most: int) -> str:
    """Return one line for a title, a status or a file's name: Slack does not say what it parses there.

    All that it obeys in a text stands in angle brackets; others look alike.
    """
    return shown(text, most).translate(_ANGLES)


def fitted(text: str, most: int, escape: Callable[[str], str]) -> str:
    """Return one line escaped, in at most so many bytes; no escape is cut in two."""
    room = most
    while (over := len((made := escape(shown(text, room))).encode()) - most) > 0:
        room -= max(1, over // 8)
    return made


def mrkdwn(text: str) -> str:
    """Escape one line for Slack's mrkdwn: it mentions nobody and links nowhere.

    https://docs.slack.dev/messaging/formatting-message-text names &, < and > as what is to be
    escaped; that bare addresses become links is told there too.
    """
    return _defused(harmless(text))


def markdown(text: str) -> str:
    """Escape one line for the Markdown of streams: no mention, no link, no emphasis, no heading.

    Backslashes are not relied on, for Slack does not say that they escape: signs that would format
    become others that look alike.
    """
    plain = _EDGE.sub("＿", harmless(text).translate(_LOOKALIKE))
    return (_JOINER if _OPENS.match(plain) else "") + _defused(plain)


def _defused(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for pattern in (_NAMED, _SCHEME, _MAIL, _DOMAIN, _LABELLED):
        text = pattern.sub(lambda found: found[0] + _JOINER, text)
    return text
