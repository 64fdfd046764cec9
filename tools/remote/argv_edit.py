"""Edits of a command line, carried out on its words: which go out, and what goes to the end.

It gives `edited`, `dropped` and `added`. An edit is {"drop": spellings, "takes": words that follow or None, "add":
words}. Words are str or bytes, or None for one that is not literal. Pure, Python 3.8+; bot and host read alike.
"""

import re
from typing import Any

_NUMBER = re.compile(r"-\d+$|-\d*\.\d+$")  # as in argparse.py of Python 3.8 to 3.13


def _text(word):
    return word.decode("utf-8", "surrogateescape") if isinstance(word, bytes) else word


def is_number(word: "str") -> "bool":
    """Say whether argparse takes a word for a value though it begins with a dash."""
    return bool(_NUMBER.match(word))


def _is_value(word):
    """Say whether a word that follows a flag belongs to it, where the flag takes all up to the next one."""
    return word is not None and (not word.startswith("-") or word == "-" or is_number(word))


def _end(words, at, takes):
    """Return the place after the last value of the flag at a place."""
    if takes is not None:
        return min(len(words), at + 1 + takes)
    at += 1
    while at < len(words) and _is_value(words[at]):
        at += 1
    return at


def dropped(argv, edits):
    """Return the sorted places of the words that go out: every flag that an edit drops, with its values."""
    words, found, at = [_text(word) for word in argv], [], 0
    while at < len(words):
        name, equals, _ = (words[at] or "").partition("=")
        edit = next((one for one in edits if name and name in one["drop"]), None)
        if edit is None:
            at += 1
            continue
        end = at + 1 if equals else _end(words, at, edit["takes"])
        found += range(at, end)
        at = end
    return found


def added(edits):
    """Return the words that go to the end, in the order of the edits."""
    return [word for edit in edits for word in edit["add"]]


def edited(argv: "list[Any]", edits: "list[dict[str, Any]]") -> "list[Any]":
    """Return the new command line: bytes stay bytes, and no word that is not named is touched."""
    out = set(dropped(argv, edits))
    kept = [word for at, word in enumerate(argv) if at not in out]
    raw = any(isinstance(word, bytes) for word in argv)
    more = [os_bytes(word) if raw else word for word in added(edits)]
    ends = next((at for at, word in enumerate(kept) if _text(word) == "--"), len(kept))
    return kept[:ends] + more + kept[ends:]


def os_bytes(word):
    """Return a word as the kernel gets it."""
    return word.encode("utf-8", "surrogateescape")
