"""The file of --config: put before the command line, as the engine's own ConfigArgumentMerger does.

Read in srt/server_args_config_parser.py of 0.5.8 to 0.5.18, and in srt/utils/ of the same name since.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tools.errors import Absent
from tools.provenance.resolver import declared_flags
from tools.provenance.tree import Tree

FLAG = "--config"  # "--config=FILE" is not merged: the engine looks for the word alone


def named(argv: tuple[str, ...]) -> str | None:
    """Return the file that a command line names; None where it names none."""
    at = argv.index(FLAG) if FLAG in argv else len(argv)
    return next(iter(argv[at + 1 : at + 2]), None)


def merged(argv: tuple[str, ...], config: Mapping[str, Any], tree: Tree) -> tuple[str, ...]:
    """Return a command line with what its file says before its own flags, which so win over it.

    Raises Absent where the engine would refuse the file.
    """
    if argv.count(FLAG) > 1:
        raise Absent("the command line names several files with --config: the engine takes one")
    if FLAG not in argv:
        return argv
    at = argv.index(FLAG)
    first = next((i for i, word in enumerate(argv) if word.startswith("-")), len(argv))
    first += 2 if argv[first : first + 1] == ("-m",) else 0
    own = (*argv[first:at], *argv[at + 2 :])
    return (*argv[:first], *_words(config, tree), *own)


def _words(config: Mapping[str, Any], tree: Tree) -> Iterator[str]:
    switches = set(_switches(tree))
    for key, value in config.items():
        if isinstance(value, bool) and key.replace("-", "_") in switches:
            yield from [f"--{key}"] if value else []
        elif isinstance(value, list):
            yield from [f"--{key}", *map(str, value)] if value else []
        else:
            yield from (f"--{key}", _word(value))


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, dict) else str(value)


def _switches(tree: Tree) -> Iterator[str]:
    """Return the keys of flags that take no value: their field, and since 0.5.20 any of their names."""
    for flag in declared_flags(tree):
        if flag.keywords.get("action") == "store_true":
            yield flag.dest
            yield from (name.lstrip("-").replace("-", "_") for name in flag.names)
