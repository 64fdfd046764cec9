"""Which texts can write an argument at all: a quick look at each file, before its syntax is read."""

from __future__ import annotations

import re
from collections.abc import Callable

# Words, and patterns that begin with fixed letters, are found some times faster than one pattern of all.
_WRITE_WORDS = ("setattr(", ".override(", "class ServerArgs")
_CALLED = (re.compile(r"declare_\w+\("), re.compile(r"@\w*register"))
_ASSIGNED = re.compile(r"args(?:\.\w+)+\s*((?:[-+*/|&%]|//)?=)(?!=)")


def can_write(text: str) -> bool:
    """Say whether a text assigns to a field of server_args or args, or does so by a call or a decorator."""
    if any(word in text for word in _WRITE_WORDS) or any(one.search(text) for one in _CALLED):
        return True
    for found in _ASSIGNED.finditer(text):
        before = text[max(0, found.start() - 7) : found.start()]
        if before == "server_" or (found[1] == "=" and not re.search(r"\w$", before)):
            return True
    return False


def writer_of(field: str) -> Callable[[str], bool]:
    """Return what says whether a file may write one field: an assignment, a key, or a keyword."""
    name, keys = re.escape(field), (f'"{field}"', f"'{field}'")
    assigned = re.compile(rf"\.{name}(?:(?:\.\w+)*[ \t]*(?:[-+*/|&%]|//)?=(?!=)|\s*,)")
    keyword = re.compile(rf"{name}=(?!=)")

    def writes(text: str) -> bool:
        if any(key in text for key in keys) or assigned.search(text):
            return True
        return any(re.match(r"[\s(]", text[at.start() - 1 :]) for at in keyword.finditer(text, 1))

    return writes
