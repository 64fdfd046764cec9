"""A tolerant reader of what Python and JSON print of nested values, whole or cut off.

`ServerArgs(tp_size=2, x=PhaseConfig(backend='full'))`, `{'tp_size': 2}` and `{"tp_size": 2}` all
become plain dicts, lists and scalars. A call with names becomes a dict, `torch.device('cuda')`
its one argument. It never raises: where the text ends or makes no sense, it keeps what was whole.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

_TOKEN = re.compile(
    r"""\s*+(?:
    (?P<text>[bru]?(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"))
  | (?P<angle><[^<>\n]{0,300}>)
  | (?P<word>[^\s,:=()\[\]{}'"<>]++)
  | (?P<mark>[,:=()\[\]{}<>])
    )""",
    re.VERBOSE,
)
# What most dumps consist of, as one token each; everything else is read by the way above.
_WORD = r"[^\s,:=()\[\]{}'\"<>]++"
_TEXT = r"'[^'\\]*+'|\"[^\"\\]*+\""
_VALUE = rf"\s*+(?:(?P<word>{_WORD})(?=\s*+[,)\]}}])|(?P<text>{_TEXT}))"
_PLAIN_ITEM = re.compile(rf"(?:\s*+,)?+\s*+(?P<name>{_WORD}|{_TEXT})\s*+[=:](?P<value>{_VALUE})")
_PLAIN_PART = re.compile(rf"(?:\s*+,)?+{_VALUE}")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0"}
_NAMES = {"True": True, "true": True, "False": False, "false": False, "None": None, "null": None}
_NUMBER = re.compile(r"[+-]?(?:\d[\d_]*+(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?|[+-]?(?:inf|nan)")
_DEPTH = 24
_MOST = 20_000  # values; the largest real dump has 560
_CLOSE = {"(": ")", "[": "]", "{": "}"}


class _Cut(Exception):
    """The text ended, or made no sense, inside a value."""


@dataclass
class Scan:
    """One reading: the tree, and where each top-level value lies in the text.

    Without `values` the tree holds None for most, which is a third of the work.
    """

    text: str
    values: bool = True
    at: int = 0
    tree: dict[str, Any] = field(default_factory=dict)
    spans: list[tuple[str, int, int]] = field(default_factory=list)
    _left: int = _MOST

    def token(self) -> tuple[str, str]:
        """Return the kind and the text of the next token and go past it."""
        found = _TOKEN.match(self.text, self.at)
        if not found:
            raise _Cut
        self.at = found.end()
        kind = found.lastgroup or ""
        return kind, found[kind]

    def peek(self) -> str:
        """Return the next token's text without going past it; empty at the end."""
        found = _TOKEN.match(self.text, self.at)
        return found[found.lastgroup or 0] if found else ""

    def items(self, into: dict[str, Any], depth: int, *, top: bool = False) -> None:
        """Read `name=value` and `'name': value` up to the closing bracket; go past it."""
        while True:
            while plain := self._plain(_PLAIN_ITEM, depth):
                name = plain["name"]
                name = name[1:-1] if name[0] in "'\"" else name
                if top:
                    self.spans.append((name, *plain.span("value")))
                into[name] = _read(plain) if self.values else None
            kind, name = self.token()
            if kind == "mark" and name in ")}]":
                return
            if kind == "mark" and name == ",":
                continue
            name = _string(name) if kind == "text" else name
            if not (following := self.peek()):
                raise _Cut
            if following not in ("=", ":"):
                into.setdefault("", name if kind == "text" else scalar(name))
                continue
            self.token()
            self._item(name, into, depth, top=top)

    def _item(self, name: str, into: dict[str, Any], depth: int, *, top: bool) -> None:
        start = self.at
        if top:
            self.spans.append((name, start, len(self.text)))
        try:
            into[name] = self.value(depth + 1)
        except _CutInside as cut:
            into[name] = cut.inner
            raise
        if top:
            self.spans[-1] = (name, start, self.at)

    def _plain(self, pattern: re.Pattern[str], depth: int) -> re.Match[str] | None:
        """Go past what stands here if it is plain, and may be read at all."""
        found = pattern.match(self.text, self.at) if depth < _DEPTH and self._left > 0 else None
        if found:
            self.at = found.end()
            self._left -= 1
        return found

    def value(self, depth: int) -> Any:
        """Read one value; what nests deeper than anything real is cut."""
        self._left -= 1
        if depth > _DEPTH or self._left < 0:
            raise _Cut
        kind, text = self.token()
        if kind == "text":
            return _string(text)
        if kind == "angle":
            return re.split(r"[:\s]", text[1:-1], maxsplit=1)[0].rpartition(".")[2]
        if kind == "mark":
            return self._bracket(text, depth)
        if self.peek() == "(":
            self.token()
            return self._call(depth)
        return self._words(text)

    def _bracket(self, mark: str, depth: int) -> Any:
        if mark == "{":
            return self._mapping(depth)
        if mark not in "([":
            raise _Cut
        try:
            return self._list(_CLOSE[mark], depth)
        except _CutInside:
            raise _Cut from None  # of a list all or nothing is kept

    def _list(self, closing: str, depth: int) -> list[Any]:
        found = []
        while True:
            while plain := self._plain(_PLAIN_PART, depth):
                found.append(_read(plain) if self.values else None)
            if (following := self.peek()) == closing:
                break
            if following == ",":
                self.token()
            else:
                found.append(self.value(depth + 1))
        self.token()
        return found

    def _mapping(self, depth: int) -> dict[str, Any]:
        inner: dict[str, Any] = {}
        try:
            self.items(inner, depth)
        except _Cut:
            raise _CutInside(inner) from None
        return inner

    def _call(self, depth: int) -> Any:
        inner = self._mapping(depth)
        return inner[""] if list(inner) == [""] else inner

    def _words(self, first: str) -> Any:
        """Join what no quotes hold together (`cuda:0`); at the end of the text it may be cut."""
        start = self.at - len(first)
        while (following := self.peek()) not in (",", ")", "]", "}"):
            if not following:
                raise _Cut
            self.token()
        return scalar(self.text[start : self.at].strip())


class _CutInside(_Cut):
    """The text ended inside a mapping, of which something was whole."""

    def __init__(self, inner: dict[str, Any]) -> None:
        super().__init__()
        self.inner = inner


def scan(text: str, *, values: bool = True) -> Scan:
    """Read the items of one dump; `text` begins after its opening bracket."""
    reading = Scan(text, values)
    with suppress(_Cut):
        reading.items(reading.tree, 0, top=True)
    return reading


def _read(plain: re.Match[str]) -> Any:
    return scalar(plain["word"]) if plain["word"] else plain["text"][1:-1]


def scalar(word: str) -> str | int | float | bool | None:
    """Return a bare word as what it means."""
    if word in _NAMES:
        return _NAMES[word]
    if not _NUMBER.fullmatch(word) or len(word) > 40:
        return word
    try:
        return int(word)
    except ValueError:
        number = float(word)
        return number if math.isfinite(number) else word


def _string(quoted: str) -> str:
    start = 2 if quoted[0] in "bru" else 1
    inner = quoted[start:-1]
    return _ESCAPE.sub(_unescape, inner) if "\\" in inner else inner


def _unescape(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _PLAIN.get(code, code)
