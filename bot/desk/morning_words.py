"""What people say below a summary, and of what is watched; pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from bot.desk.thread import Thread
from bot.question import Question

Said = Literal["know", "changed", "watch", "unwatch", "watches", "look"]
_PLEASE = r"(?:(?:please|pls|can you|could you|and|ok|so),? +)*"
_LISTED = (
    r"(?:what (?:do|are) (?:you|we) (?:still )?watch(?:ing)?\b"
    r"|(?:list|show)(?: me)?(?: the| your| all)? watches\b)"
)
_ENDED = r"(?:(?:stop|quit|end|cancel) (?:watching|the watch)|(?:don'?t|do not|no need to) watch)\b"
_WATCHED = (
    r"(?:(?:tell|warn|ping|notify|alert|let) (?:me|us)(?: know)? (?:if|when|as soon as) (?:it|this|that)(?: ever)?"
    r" (?:happens?|comes? back|is back|returns?|occurs?|recurs?)\b"
    r"|(?:keep (?:an eye on|watching)|watch) (?:it|this|that|for (?:it|this|that))\b)"
)
_KNOWN = r"(?:(?:i|we)(?: already)? know (?:of|about) |ack(?:nowledged?)?:? )"
_CHANGED = r"what(?:'s| has| have| is)? (?:changed|new|different)\b"
_ASKED = (
    r"(?:why\b|check |look at |diagnose |investigate "
    r"|what(?:'s| is) (?:wrong|up|the matter|going on) (?:with|on) )"
)
_ALL: tuple[tuple[Said, str], ...] = (
    ("watches", _LISTED),
    ("unwatch", _ENDED),
    ("watch", _WATCHED),
    ("know", _KNOWN),
    ("changed", _CHANGED),
    ("look", _ASKED),
)
_FORMS = tuple((said, re.compile(_PLEASE + form, re.IGNORECASE)) for said, form in _ALL)


def read(
    text: str, thread: Thread, hosts: Collection[str], *, addressed: bool
) -> tuple[Said, tuple[str, ...]] | None:
    """Return what is said, and of which hosts; None where it is something else, or not meant for us.

    Below a summary a host must be named where there are several; in the thread of a verdict its own
    host is meant.
    """
    said = next((said for said, form in _FORMS if form.match(text.strip())), None)
    named = Question.of(text, hosts).hosts
    if said in ("watch", "unwatch", "watches"):
        return (said, named) if addressed or thread.known else None
    if said == "look":
        new = thread.morning and named and thread.about_one_of(named) is None
        return (said, named) if new else None
    if said == "know":
        return (said, named) if thread.morning and named else None
    if said == "changed" and named:
        return (said, named[:1]) if thread.morning or (addressed and not thread.about) else None
    return None
