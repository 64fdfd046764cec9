"""Lines of the installed engine's source: what our script prints, and what `grep -n` prints."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tools.engine import SourceLine, SourceLines
from tools.errors import Unreadable

TEXT_CHARS = 300
MOST = 200
_GREP = re.compile(r"^\s*(?:(\S{0,300}?\.py):)?(\d{1,6}):(?=[\sa-zA-Z_#@\"')])(\s*\S.*)$")
_ROOT = re.compile(
    r"^(.*?/?(?:site-packages|dist-packages|python)/(?:sglang|vllm)/|(?:sglang|vllm)/)"
)


def from_script(said: Mapping[str, Any], needle: str) -> SourceLines:
    """Return the facts of the object that our script prints."""
    found = said.get("found")
    lines = [part for part in found if isinstance(part, Mapping)] if isinstance(found, list) else []
    return SourceLines(
        needle=str(said.get("needle", needle))[:TEXT_CHARS],
        version=_text(said.get("version")),
        root=_text(said.get("root")),
        found=tuple(_line(part) for part in lines[:MOST] if isinstance(part.get("line"), int)),
        cut=bool(said.get("cut")) or len(lines) > MOST,
    )


def _text(value: object) -> str | None:
    return value[:TEXT_CHARS] if isinstance(value, str) else None


def _line(part: Mapping[str, Any]) -> SourceLine:
    return SourceLine(
        path=str(part.get("path", ""))[:TEXT_CHARS],
        line=int(part["line"]),
        text=str(part.get("text", ""))[:TEXT_CHARS],
    )


def from_grep(text: str, needle: str) -> SourceLines:
    """Return the facts of a pasted `grep -n`; raise Unreadable where no line is of that form."""
    found, root, path, asked = [], None, "", _asked(text)
    for raw in text[: 1 << 20].splitlines():
        match = _GREP.match(raw[:2000])
        if not match:
            path = raw.strip() if re.fullmatch(r"\s*\S{1,300}\.py:?\s*", raw[:400]) else path
            continue
        full = match[1] or path.rstrip(":") or (asked[1] if asked else "")
        below = _ROOT.sub("", full)
        if below != full and root is None:
            root = full[: len(full) - len(below) - 1]
        found.append(SourceLine(path=below, line=int(match[2]), text=match[3][:TEXT_CHARS]))
    if not found:
        raise Unreadable("no line of the form path:number:text")
    word = asked[0] if asked else _shared_word([line.text for line in found]) or needle
    return SourceLines(needle=word, root=root, found=tuple(found[:MOST]), cut=len(found) > MOST)


def _asked(text: str) -> tuple[str, str] | None:
    """Return what a pasted grep command looked for, and in which file."""
    command = re.search(r"\b(?:grep|rg)\s[^\n]{0,400}", text[:4000])
    if not command:
        return None
    plain = [w.strip("\"'") for w in command[0].split()[1:] if not w.startswith("-")]
    return (
        (plain[0], plain[1] if len(plain) > 1 and plain[1].endswith(".py") else "")
        if plain
        else None
    )


def _shared_word(lines: list[str]) -> str | None:
    """Return the longest identifier that all lines hold: what was looked for, most likely."""
    words = [set(re.findall(r"[A-Za-z_]{4,80}", line)) for line in lines[:50]]
    common = set.intersection(*words) if words else set()
    return max(common, key=len) if common else None


def is_grep_of_source(text: str) -> bool:
    """Say whether a text is a `grep -n` over Python files: most lines are path:number:code."""
    lines = [line for line in text[:20_000].splitlines() if line.strip()][:60]
    hits = [m for line in lines if (m := _GREP.match(line[:2000]))]
    named = ".py" in text and any(m[1] for m in hits)
    coded = sum(bool(re.search(r"self\.|=|\(|\bif\b|#|\"", m[3])) for m in hits)
    return (
        bool(hits)
        and len(hits) * 2 >= len(lines)
        and coded * 2 >= len(hits)
        and (named or coded > 2)
    )
