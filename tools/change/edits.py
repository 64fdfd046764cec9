"""From a wish to edits of a command line: which spellings go out, and what is added for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from tools.change.change import Change, Edit, Value
from tools.errors import ToolsError
from tools.remote import argv_edit

CONFIG = "--config"


class Flag(Protocol):
    """What must be known of a flag of the installed version."""

    @property
    def names(self) -> tuple[str, ...]:
        """All its spellings, dashes included; the first is the one that is written."""

    @property
    def dest(self) -> str:
        """The field that it fills."""

    @property
    def takes(self) -> int | None:
        """How many words follow it: 0 a switch, 1 a value, None all up to the next flag."""


def edited(argv: Sequence[str], edits: Iterable[Edit]) -> tuple[str, ...]:
    """Return the new command line; the keeper does the same to the whole of it on the host."""
    told = [edit.model_dump(mode="json") for edit in edits]
    return tuple(argv_edit.edited(list(argv), told))


def edits_for(
    change: Change,
    flags: Sequence[Flag],
    argv: Sequence[str],
    *,
    config: str | None = None,
    in_config: Iterable[str] = (),
) -> tuple[Edit, ...]:
    """Return the edits that carry out a change on a command line.

    `flags` are all flags of the installed version: argparse takes every unique beginning of a name, so
    those that stand in `argv` are dropped too. `config` is the file that --config names and `in_config`
    the fields it gives: one that is to be unset there needs a copy without it. Raises ToolsError for a
    name that no flag has.
    """
    by_dest = {flag.dest: flag for flag in flags}
    if unknown := [name for name in (*change.set, *change.unset) if name not in by_dest]:
        raise ToolsError(f"the installed version has no flag for {', '.join(unknown)}")
    edits = [_set(by_dest[name], value, flags, argv) for name, value in change.set.items()]
    edits += [
        Edit(drop=_spelled(by_dest[name], flags, argv), takes=by_dest[name].takes)
        for name in change.unset
    ]
    gone = set(change.unset) | {name for name, value in change.set.items() if value is False}
    if config and gone & set(in_config):
        edits.append(Edit(drop=(CONFIG,), takes=1, add=(CONFIG, copy_name(config))))
    return tuple(edits)


def copy_name(path: str) -> str:
    """Return where the copy of a --config file lies, as tools/remote/keeper_config.py names it."""
    stem, dot, end = path.rpartition(".")
    return f"{stem}.perfsleuth.{end}" if dot else f"{path}.perfsleuth"


def _set(flag: Flag, value: Value, flags: Sequence[Flag], argv: Sequence[str]) -> Edit:
    drop, name = _spelled(flag, flags, argv), flag.names[0]
    if flag.takes == 0:
        return Edit(drop=drop, takes=0, add=(name,) if value else ())
    text = str(value)
    plain = not text.startswith("-") or argv_edit.is_number(text)
    return Edit(drop=drop, takes=flag.takes, add=(name, text) if plain else (f"{name}={text}",))


def _spelled(flag: Flag, flags: Sequence[Flag], argv: Sequence[str]) -> tuple[str, ...]:
    """Return all names of a flag, and what of the command line abbreviates one of them and no other flag."""
    owners: Mapping[str, str] = {name: one.dest for one in flags for name in one.names}
    short = []
    for word in argv:
        name = word.partition("=")[0]
        if name.startswith("--") and len(name) > 2 and name not in owners:
            meant = {dest for known, dest in owners.items() if known.startswith(name)}
            short += [name] if meant == {flag.dest} else []
    return tuple(dict.fromkeys((*flag.names, *short)))
