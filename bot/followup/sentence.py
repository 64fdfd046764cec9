"""The one sentence of a message that asks something, without courtesy; None where it only talks."""

from __future__ import annotations

import re

LONGEST = 240  # characters; who writes more tells something, or asks something new

_CALLED = re.compile(r"<@[A-Z0-9]+(?:\|[^>]*)?>|@?\bperfsleuth\b[,:]?", re.IGNORECASE)
_PARTS = re.compile(
    r"(?<=[.!?])\s+|\n+|(?<=\w)\s*[,;]\s+(?=(?:but|and)?\s*(?:why|what|how|show)\b)"
)
_BEFORE = re.compile(
    r"^(?:(?:hey|hi|hello|ok(?:ay)?|so|and|but|well|hm+|also|please|pls|then|now|just|yes|yeah|right|cool|great|nice"
    r"|interesting|good|bot|wait|um+|(?:can|could|would|will)\s+you(?:\s+(?:please|also|just))?)\b[\s,:.!…-]*)+",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"(?:[\s,]+(?:please|pls|then|though|thanks|thank you|thx|for me))*[\s?.!…:]*$", re.I
)
_THANKS = re.compile(
    r"(?:many\s+|ok(?:ay)?,?\s+|great,?\s+|perfect,?\s+|cool,?\s+|nice,?\s+)*(?:thanks|thank\s+you|thx|ty|cheers)"
    r"(?:\s+(?:a\s+lot|so\s+much|very\s+much|much|again|all|bot))*[\s.!:)❤👍🙏]*",
    re.IGNORECASE,
)
_NODS = re.compile(
    r"(?:ok(?:ay)?|great|cool|nice|good|wow|interesting|i\s+see|got\s+it|makes\s+sense|hm+|aha|right|yes|yeah|hello|hi"
    r"|hey)[\s,.!…]*",
    re.IGNORECASE,
)


def thanks(text: str) -> bool:
    """Say whether a message says thanks, and nothing else."""
    return bool(_THANKS.fullmatch(_CALLED.sub("", text).strip()))


def asking(text: str) -> str | None:
    """Return what a message asks, bare: no address, no courtesy, no full stop; None where it is more than that."""
    if len(text) > LONGEST:
        return None
    parts = [part.strip() for part in _PARTS.split(_CALLED.sub(" ", text)) if part.strip()]
    said = [part for part in parts if not _NODS.fullmatch(part) and not _THANKS.fullmatch(part)]
    if len(said) != 1:
        return None
    bare = _AFTER.sub("", _BEFORE.sub("", said[0]))
    return " ".join(bare.split()) or None
