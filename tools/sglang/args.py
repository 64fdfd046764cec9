"""The arguments of a server as the engine prints them: `server_args=` in the log, and JSON.

Three forms exist: `ServerArgs(...)` up to SGLang 0.5.18, a dict since 0.5.19, JSON from the
endpoints; vLLM prints `non-default args: {...}`. Values of names that are not on the allow-list
are dropped here, so that nothing that follows can show a key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tools.anchored import finds
from tools.engine.launch import Value
from tools.knowledge.fields import public_names
from tools.probe import JSON
from tools.secrets import DROPPED, scrub
from tools.sglang.scan import scan

DUMP_BYTES = 1 << 20  # the longest real dump (0.5.23, 560 fields) has 22 kB
TEXT_CHARS = 2000  # of one value

_SIGNS = ("server_args=", "ServerArgs(", "non-default args: {", "LLM engine (")
_MARK = re.compile(
    r"server_args=(?:ServerArgs\(|\{)|\bServerArgs\(|non-default args: \{"
    r"|LLM engine \([^)\n]{0,60}\) with config: "
)
_HARMLESS = re.compile(r"\s*(?:None|True|False|null|true|false|''|\"\")\s*")
_FRAGMENT = re.compile(r"(?:^|, ?)(?='\w+': |\w+=)")


def read_dump(text: str) -> dict[str, Value]:
    """Return the arguments of the last dump in a text, flat (`cuda_graph_config.decode.backend`).

    A text that is cut at either end keeps what was whole. Names off the allow-list stay, with
    their value dropped. A text without any dump gives an empty dict.
    """
    whole = text.lstrip()
    if whole.startswith("{"):
        try:
            tree = JSON.decode(whole[: DUMP_BYTES * 16])
        except (ValueError, RecursionError):
            return flat(scan(whole[1:DUMP_BYTES]).tree)
        return flat(tree) if isinstance(tree, dict) else {}
    start, end = _last_dump(text)
    return flat(scan(text[start:end]).tree)


def _last_dump(text: str) -> tuple[int, int]:
    marks = list(finds(_MARK, _SIGNS, text))
    if marks:
        start = marks[-1].end()
    else:
        found = _FRAGMENT.search(text, 0, DUMP_BYTES)
        start = found.end() if found else len(text)
    return start, _end(text, start)


def _end(text: str, start: int) -> int:
    line = text.find("\n", start, start + DUMP_BYTES)
    return line if line >= 0 else min(len(text), start + DUMP_BYTES)


def clean_dumps(text: str) -> str:
    """Return a text with the values that are off the allow-list dropped from each dump in it.

    Where something was dropped, what stood within quotes may stand outside: so it is read again.
    """
    once = _without_values(text)
    return once if once == text else _without_values(once)


def _without_values(text: str) -> str:
    parts, done, public = [], 0, public_names()
    for mark in finds(_MARK, _SIGNS, text):
        if mark.end() <= done:
            continue
        start = mark.end()
        end = _end(text, start)
        for name, low, high in scan(text[start:end], values=False).spans:
            if name not in public and not _HARMLESS.fullmatch(text, start + low, start + high):
                parts += [text[done : start + low], DROPPED]
                done = start + high
    return "".join([*parts, text[done:]])


def flat(tree: Mapping[str, Any]) -> dict[str, Value]:
    """Return a nested mapping as one level of allow-listed values; lists become tuples of text."""
    found: dict[str, Value] = {}
    for name, value in tree.items():
        if name in public_names():
            found.update(_leaves(name, value))
        elif name:
            silent = value is None or value is True or value is False or value == ""
            found[str(name)[:80]] = value if silent else DROPPED
    return found


def _leaves(name: str, value: object) -> Iterator[tuple[str, Value]]:
    if isinstance(value, Mapping):
        for key, inner in list(value.items())[:500]:
            yield from _leaves(f"{name}.{str(key)[:80]}", inner)
    elif isinstance(value, (list, tuple)):
        yield name, tuple(_item(part) for part in value[:2000])
    else:
        yield name, _scalar(value)


def _scalar(value: object) -> Value:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return scrub(str(value)[:TEXT_CHARS])


def _item(part: object) -> str:
    nested = isinstance(part, (dict, list))
    return scrub(json.dumps(part, default=str)[:TEXT_CHARS]) if nested else str(_scalar(part))
