"""A line of a note as it was typed, and as the reader of notes takes it."""

from __future__ import annotations

from typing import NamedTuple


class TypedLine(NamedTuple):
    """What a line tells, of which run, under which condition; `line` is what was typed.

    Without a `label` the text names its run itself.
    """

    text: str
    line: str
    label: str = ""
    at: str = ""
