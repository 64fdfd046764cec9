"""What a reader of a serve log gathers on the way: notices, folded, and what it could not explain."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tools.engine.log import Notice, NoticeKind
from tools.secrets import scrub

TEXT_CAP = 400  # characters of a message that are kept
UNEXPLAINED_CAP = 60  # lines that are kept word for word; all are counted
ALIKE_CAP = (
    40  # notices that differ in their figures alone; beyond, they fold into the last of them
)
KINDS_CAP = 1200  # notices in all
NUMBER_CAP = 1e15  # a figure beyond this is no figure of a server

_DIGITS = re.compile(r"\d+")
_STAMP = re.compile(r"\[20\d\d-\d\d-\d\d \d\d:\d\d:\d\d")


def masked(text: str) -> str:
    """Return a text with its figures taken out, so that lines alike can be told."""
    return _DIGITS.sub("0", text)


def unglued(text: str) -> list[str]:
    """Return the lines of a text; a log line that began in the middle of another gets its own."""
    cuts = [
        m.start() for m in _STAMP.finditer(text) if m.start() and not text[m.start() - 1].isspace()
    ]
    parts = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    return [line for part in parts for line in part.split("\n")] if cuts else text.split("\n")


def number(text: str | None) -> float | None:
    """Return a figure of a log line; None where there is none, or an absurd one."""
    try:
        value = float((text or "").replace(",", "")[:40])
    except ValueError:
        return None
    return value if -NUMBER_CAP < value < NUMBER_CAP else None


def count(text: str | None) -> int | None:
    """Return a count of a log line; None where there is none, or an absurd one."""
    value = number(text)
    return None if value is None else int(value)


def numbers(found: re.Match[str] | None) -> dict[str, float]:
    """Return the named figures of a match."""
    groups: Mapping[str, str | None] = found.groupdict() if found else {}
    read = {name: number(text) for name, text in groups.items()}
    return {name: value for name, value in read.items() if value is not None}


class Gathered:
    """Notices in the order they came, identical ones folded, and the lines left unexplained."""

    def __init__(self) -> None:
        self._notices: dict[tuple[str, str], dict[str, Any]] = {}
        self._alike: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self._unexplained: list[tuple[int, str]] = []
        self._strange: list[int] = []

    def add(
        self,
        kind: NoticeKind,
        text: str,
        *,
        at: str | None = None,
        rank: str = "",
        numbers: dict[str, float] | None = None,
        line: int = 0,
        fold: str = "",
    ) -> None:
        """Keep a notice; `fold` names notices that count as one whatever their text."""
        text = scrub(text.partition("=ServerArgs(")[0].strip()[:TEXT_CAP])
        key: tuple[str, str] = (kind, fold or text)
        if key not in self._notices:
            family = self._alike.setdefault((kind, masked(text)[:120]), [])
            if len(family) >= ALIKE_CAP or (len(self._notices) >= KINDS_CAP and family):
                key = family[-1]
            elif len(self._notices) >= KINDS_CAP:
                return self.leave(text, line=line)
            else:
                family.append(key)
        if key in self._notices:
            self._notices[key]["times"] += 1
            return None
        self._notices[key] = {
            "kind": kind, "text": text, "at": at, "rank": rank, "times": 1,
            "numbers": numbers or {}, "line": line,
        }  # fmt: skip
        return None

    def leave(self, text: str, *, line: int = 0) -> None:
        """Leave a line unexplained."""
        self._strange.append(line)
        if len(self._unexplained) < 4 * UNEXPLAINED_CAP:
            self._unexplained.append((line, scrub(text.strip()[:200])))

    def forget(self, before: int) -> None:
        """Forget what was said up to a line: it belongs to an earlier run."""
        self._notices = {key: said for key, said in self._notices.items() if said["line"] > before}
        self._alike = {
            kin: [key for key in keys if key in self._notices] for kin, keys in self._alike.items()
        }
        self._unexplained = [(line, text) for line, text in self._unexplained if line > before]
        self._strange = [line for line in self._strange if line > before]

    def notices(self, until: int | None = None) -> tuple[Notice, ...]:
        """Return the notices in the order they came, all or those up to a line."""
        return tuple(
            Notice(**{name: value for name, value in said.items() if name != "line"})
            for said in self._notices.values()
            if until is None or said["line"] <= until
        )

    def unexplained(self) -> tuple[str, ...]:
        """Return lines that nothing explains, lines alike once."""
        once: dict[str, str] = {}
        for _, text in self._unexplained:
            once.setdefault(masked(text), text)
        return tuple(once.values())[:UNEXPLAINED_CAP]

    @property
    def unexplained_count(self) -> int:
        """Count all lines that nothing explains."""
        return len(self._strange)
