"""Text of a host or a file, fit to be shown: what would steer a terminal or lie about order is gone."""

from __future__ import annotations


def harmless(text: str) -> str:
    """Return one line without what is not printed: controls, escapes, bidi overrides, lone surrogates.

    A tab, a newline and any other kind of space become a space; letters of every script stay.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else " " if c.isspace() else "" for c in text)
