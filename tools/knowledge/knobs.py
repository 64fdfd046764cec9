"""Knobs: what people change between two runs, how they write it, and the cause it would prove; data: knobs.yaml."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict

from tools.knowledge.catalogue import Category

Side = float | str  # where a knob stands: "on" or "off", a number, or a word

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_VALUE = r"\D{0,12}?(\d+(?:\.\d+)?)\s?(k\b|[kK](?=i?[bB]?\b))?"
_SIZE = re.compile(r"\s?([kmg])i?b?\b")
_BYTES = {"k": 2.0**10, "m": 2.0**20, "g": 2.0**30}
_BEFORE = r"(\d+(?:\.\d+)?)(k)?[ -]?(?:x |w )?"
_NEGATED = re.compile(
    r"(?:\bno|\bnot|without|w/o|minus|unset|remov\w+|dropp?\w*|took out)[ :]+(?:the |any )?[`'\"]?-{0,2}$"
)
_GONE = re.compile(
    r"^[`'\"]?[ :=]{0,3}(?:was |is |flag )?(?:unset|removed|gone|dropped|not set|taken out|deleted|away"
    r"|out of(?! mem))\b"
)
_OFF = re.compile(
    r"^[`'\"]?[ :=(]{0,3}(?:(?:is|was|turned|switched|set to|mode) )?(?:off|0|false|no|disabled?|inactive"
    r"|down)(?![\w.])"
)
_INVERTS = re.compile(r"disabl|(?<![a-z])no[-_](?!tun)|skip[-_]")

_VERSION = re.compile(
    r"(?<![\w.])v?\d{1,2}\.\d{1,3}\.\d{1,3}(?:\.?(?:rc|post|dev)\d{1,4})?(?![\w.]*\d)"
    r"|(?<![\w.-])b(?!(?:1024|2048|4096|8192|16384|32768)\b)\d{4,5}(?![\w.])"  # of llama.cpp, no batch size
)
_OF_OTHERS = re.compile(
    r"(?:driver|cuda|triton|torch|nccl|kernel|python|firmware|bios|linux|flashinfer|transformers"
    r"|toolkit)[-_ :=v]{0,3}$"
)
_BUILDS = (
    (
        "old",
        re.compile(
            r"revert|\bold(?:er)?\b|previous|last (?:release|week)|before (?:the )?(?:up\w+|pull|merge)"
            r"|one commit (?:back|before)|without (?:the|that) (?:pr|commit|pull)"
        ),
    ),
    (
        "new",
        re.compile(
            r"\bmain\b|\bmaster\b|nightly|\bhead\b|\bnew(?:er)?\b|latest|after (?:the )?(?:up\w+|pull"
            r"|merge)|(?:with|at) (?:the|that) (?:pr|commit|pull)"
        ),
    ),
)


class Knob(BaseModel):
    """One thing that is changed in tests. `ails` is the side that is at fault if it is slower."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    title: str
    kind: Literal["switch", "level", "choice", "order"]
    ails: Literal["on", "off", "high", "low", "any"]
    causes: tuple[str, ...]
    excludes: tuple[str, ...] = ()  # more causes that a change without an effect rules out
    names: str = ""
    on: str = ""
    off: str = ""
    values: str = ""
    near: str = ""  # it counts only where this is said too, in the label or above it
    default: str = ""  # words for the level that nobody set, which is the lowest
    argument: str = ""
    reading: str = ""  # what a look at the GPU calls it
    category: Category | None = None  # where it is not that of the cause
    in_bytes: bool = False  # its number may carry k, m or g
    ends: bool = (
        False  # it proves its cause by what ends and what hangs, and never by what is faster
    )
    feeds: bool = False  # less of it always costs; how much tells what the rate hangs on

    def side(self, label: str, heading: str = "") -> Side | None:
        """Say where the knob stands by the label of a run; None where it does not say."""
        if self.near and not _form(self.near).search(f"{label} {heading}"):
            return None
        text = label.lower()
        if self.kind == "switch":
            return self._switched(text)
        if self.kind == "order":
            return version_said(text)
        return self._level(text) if self.kind == "level" else self._word(text)

    def _switched(self, text: str) -> Side | None:
        said = [
            side
            for side in ("on", "off")
            if (words := getattr(self, side)) and _form(words).search(text)
        ]
        if said:
            return said[0] if len(said) == 1 else None
        sides = (
            {_turned(found, text) for found in _form(self.names).finditer(text)}
            if self.names
            else set()
        )
        return sides.pop() if len(sides) == 1 else None

    def _level(self, text: str) -> Side | None:
        if self.default and _form(self.default).search(text):
            return 0.0
        found = _form(f"(?:{self.names}){_VALUE}").search(text)
        found = found or _form(f"{_BEFORE}(?:{self.names})(?![\\w-])").search(text)
        if found is None:
            return None
        sign = _SIZE.match(text, found.end(1)) if self.in_bytes else None
        return float(found[1]) * (_BYTES[sign[1]] if sign else 1000.0 if found[2] else 1.0)

    def _word(self, text: str) -> Side | None:
        if not self.values:
            return None
        words = list(dict.fromkeys(found[0].strip() for found in _form(self.values).finditer(text)))
        return "+".join(words[:4]) or None


def _turned(found: re.Match[str], text: str) -> Side:
    """Read on or off around a name: each of a disabling name, a negation and an "off" turns it round."""
    start = max(text.rfind(sign, 0, found.start()) for sign in " \t|(`'\"") + 1
    end = re.compile(r"[\s=:|,;)`'\"]|$").search(text, found.end())
    edge = end.start() if end else len(text)
    after = text[edge : edge + 24]
    turns = (
        bool(_INVERTS.search(text[start:edge])),
        bool(_NEGATED.search(text[max(0, start - 24) : start])) or bool(_GONE.match(after)),
        bool(_OFF.match(after)),
    )
    return "off" if sum(turns) % 2 else "on"


def version_said(text: str) -> str | None:
    """Return the version of the engine that a label names, or the word for it."""
    found = next(
        (one for one in _VERSION.finditer(text) if not _OF_OTHERS.search(text[: one.start()])), None
    )
    return (
        found[0].lstrip("v")
        if found
        else next((side for side, words in _BUILDS if words.search(text)), None)
    )


def age(version: str) -> tuple[int, ...]:
    """Return by what versions are ordered, older ones first; words for an old build come before figures."""
    numbers = tuple(int(part) for part in re.findall(r"\d{1,9}", version))
    numbered = "." in version or version.startswith("b")
    return (1, *numbers) if numbers and numbered else (0,) if version == "old" else (2,)


@cache
def _form(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)


@cache
def all_knobs() -> tuple[Knob, ...]:
    """Return every knob that is known."""
    text = (files(__package__) / "knobs.yaml").read_text(encoding="utf-8")
    told: list[dict[str, Any]] = yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe loader, in C where there is one
    return tuple(Knob.model_validate(entry) for entry in told)
