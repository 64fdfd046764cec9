"""Flags of a command line, keyed by the field they set.

argparse takes any unique abbreviation, `--x=y`, several names of one flag, and the last of
repeated ones; so does this. The tables of names are those of tools/knowledge/fields.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache

from tools.engine.launch import EngineName, Value
from tools.knowledge.fields import Field, public_names, sglang_fields, vllm_fields
from tools.secrets import DROPPED, scrub

_NUMBER = re.compile(r"-?\d{1,18}|-?\d{0,18}\.\d{1,18}|-?\d{1,6}(?:\.\d{1,9})?[eE][+-]?\d{1,3}")
_SHORT = re.compile(r"-(tp|pp|dp|q|O|cc|dcp|pcp)(?:=(.*)|(\d))?")  # vLLM: -tp 2, -tp=2, -O3
_USUAL = {"tp": "tp_size", "dp": "dp_size", "pp": "pp_size", "ep": "ep_size"}
_BOOLS = {"true": True, "True": True, "false": False, "False": False}
_DIGITS = 40  # what is longer is no number that somebody meant
VALUE_CHARS = 2000


@cache
def _exact(engine: EngineName) -> Mapping[str, Field]:
    """Return {flag without dashes: field}; a field's own name wins over another one's alias."""
    fields = vllm_fields() if engine == "vllm" else sglang_fields()
    named = {alias: field for field in fields.values() for alias in field.aliases}
    return named | {field.name.replace("_", "-"): field for field in fields.values()}


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


@cache
def _versions() -> tuple[tuple[int, ...], ...]:
    every = {_version(field.last) for field in sglang_fields().values()}
    return tuple(sorted(every, reverse=True))


def _unique(flags: Sequence[str], engine: EngineName) -> Field | None:
    fields = {_exact(engine)[flag].name: _exact(engine)[flag] for flag in flags}
    return next(iter(fields.values())) if len(fields) == 1 else None


def field_of(flag: str, engine: EngineName, version: str | None = None) -> Field | None:
    """Return the field that a flag (without dashes) sets, or None if no version knows it.

    An abbreviation that is unique in the version given, or else in the newest version where it
    is unique at all, is that flag.
    """
    flag = flag.replace("_", "-")
    if flag in _exact(engine):
        return _exact(engine)[flag]
    if engine == "sglang" and flag in _USUAL:
        return sglang_fields()[_USUAL[flag]]
    begun = [known for known in _exact(engine) if known.startswith(flag)] if len(flag) > 2 else []
    if engine == "vllm" or len(begun) <= 1:
        return _unique(begun, engine)
    tried = (_version(version),) if version else _versions()
    for number in tried:
        alive = [f for f in begun if _lives(_exact(engine)[f], number)]
        if (field := _unique(alive, engine)) is not None:
            return field
    return None


def _lives(field: Field, number: tuple[int, ...]) -> bool:
    return _version(field.first) <= number <= _version(field.last)


def read_flags(
    argv: Sequence[str], engine: EngineName, version: str | None = None
) -> dict[str, Value]:
    """Return the flags of the arguments after the program, keyed by field; the last one wins.

    Numbers become numbers, a switch becomes True (`--no-x`: False), JSON stays text. Values of
    flags that are unknown, or that may hold a secret, are dropped.
    """
    found: dict[str, Value] = {}
    model, at = "model" if engine == "vllm" else "model_path", 0
    while at < len(argv):
        word = argv[at]
        at += 1
        name, given = _split(word)
        if name is not None:
            key, value, used = _one(name, given, _following(argv, at), engine, version)
            found[key] = value
            at += used
        elif model not in found and ("/" in word or not found):
            found[model] = scrub(word[:VALUE_CHARS])
    return found


def _split(word: str) -> tuple[str | None, str | None]:
    if word.startswith("--") and len(word) > 2:
        name, equals, value = word[2:].partition("=")
        return name[:100], value if equals else None
    short = _SHORT.fullmatch(word)
    if short:
        return short[1], short[2] if short[2] is not None else short[3]
    return None, None


def _following(argv: Sequence[str], at: int) -> list[str]:
    words: list[str] = []
    for word in argv[at : at + 600]:
        if word.startswith("-") and not _NUMBER.fullmatch(word) and word != "-":
            break
        words.append(word)
    return words


def _one(
    name: str, given: str | None, taken: list[str], engine: EngineName, version: str | None
) -> tuple[str, Value, int]:
    """Return key, value and how many of the following words were its value."""
    top, dot, rest = name.partition(".")
    field = field_of(top, engine, version)
    if field is None and top.startswith("no-"):
        positive = field_of(top[3:], engine, version)
        if positive is not None and positive.kind == "s":
            return positive.name, False, 0
    key = (field.name if field else top.replace("-", "_")) + dot + rest
    kind = field.kind if field else "v"
    value, used = _value(kind if not dot else "v", given, taken)
    if (field.name if field else key) not in public_names() and not isinstance(value, bool):
        value = DROPPED
    return key, value, used


def _value(kind: str, given: str | None, taken: list[str]) -> tuple[Value, int]:
    if kind in ("s", "d"):
        if given is not None:
            return _BOOLS.get(given, given), 0
        return (_BOOLS[taken[0]], 1) if taken and taken[0] in _BOOLS else (True, 0)
    if given is not None:
        return (given,) if kind == "l" else _typed(given), 0
    if not taken:
        return True, 0
    if kind == "l":
        return tuple(scrub(word[:VALUE_CHARS]) for word in taken), len(taken)
    return _typed(taken[0]), 1


def _typed(word: str) -> Value:
    if _NUMBER.fullmatch(word) and len(word) <= _DIGITS:
        number = int(word) if re.fullmatch(r"-?\d+", word) else float(word)
        return number if math.isfinite(number) else word
    return scrub(word[:VALUE_CHARS])


def shown(argv: Sequence[str], engine: EngineName, version: str | None = None) -> list[str]:
    """Return the words of a command line with the values of all but public flags dropped."""
    words, keep = [], True
    for word in argv:
        name, given = _split(word)
        if name is not None:
            field = field_of(name.partition(".")[0].removeprefix("no-"), engine, version)
            keep = field is not None and field.name in public_names()
            words.append(word if keep or given is None else f"--{name}={DROPPED}")
        else:
            words.append(word if keep else DROPPED)
    return words
