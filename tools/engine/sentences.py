"""Forms by which a sentence of a log is known: a kind, words, and figures by name."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from typing import NamedTuple

from tools.engine.gathered import numbers
from tools.engine.log import NoticeKind

KNOWN_CAP = 4000  # messages whose form is remembered
LOOK = 1200  # characters of a message in which a form is looked for

# A short figure can be part of the words ("Spec v2", "P2P", "[Errno 98]"), a long one never is.
_FIGURE = re.compile(r"\d{3,}")

# Words by which a sentence that no form knows is still no plain progress.
_ALARM = re.compile(
    r"(?i)\b(?:error|fail(?:ed|ure|s|ing)?|exception|time[d ]?-?out|crash\w*|abort\w*|unable|killed|mismatch\w*"
    r"|invalid|corrupt\w*|denied|refused|missing|not found|cannot|can't|dropp(?:ed|ing)|stuck|hang(?:s|ing)?|slow\w*)\b"
)


def alarms(message: str) -> bool:
    """Say whether a message speaks of trouble."""
    return bool(_ALARM.search(message, 0, LOOK))


class Form(NamedTuple):
    """One form. `name` tells it from the others, for folding."""

    name: str
    kind: NoticeKind
    pattern: re.Pattern[str]

    @property
    def fold(self) -> str:
        """Return the name under which such messages count as one; empty where each says its own."""
        return self.name if self.kind in ("benign", "shutdown") else ""

    def found(self, message: str) -> dict[str, float] | None:
        """Return the figures of a message that has this form, else None."""
        match = self.pattern.search(message, 0, LOOK)
        return None if match is None else numbers(match)


def forms(*rows: tuple[NoticeKind, str]) -> tuple[Form, ...]:
    """Return forms from rows of kind and pattern."""
    return tuple(
        Form(f"{kind}-{zlib.crc32(pattern.encode()):x}", kind, re.compile(pattern))
        for kind, pattern in rows
    )


class Sorter:
    """Find the first form that fits; messages that differ in long figures alone are looked up once."""

    def __init__(self, *tables: Iterable[Form]) -> None:
        self._forms = tuple(form for table in tables for form in table)
        self._known: dict[str, Form | None] = {}

    def sort(self, message: str) -> tuple[Form, dict[str, float]] | None:
        """Return the form of a message and its figures, or None."""
        message = message[:LOOK]
        key = _FIGURE.sub("000", message)
        if key not in self._known:
            if len(self._known) > KNOWN_CAP:
                self._known.clear()
            self._known[key] = self._search(message)
        form = self._known[key]
        return None if form is None else (form, form.found(message) or {})

    def _search(self, message: str) -> Form | None:
        return next((form for form in self._forms if form.pattern.search(message)), None)
