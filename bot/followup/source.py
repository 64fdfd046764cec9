"""Answers from the engine's source as the looks hold it: which line set a flag, and which flags there are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.followup.intent import Intent
from bot.followup.shown import short
from bot.investigate import Judged
from bot.narrator import Line
from bot.narrator.set_by import of_flag
from bot.source.ground import Ground
from bot.source.parted import ground_in, source_in
from bot.source.uncollected import uncollected
from tools.errors import ToolsError
from tools.knowledge.traps import removed_by
from tools.provenance.flags import Flag, flags_of

NOT_GIVEN = "The engine's source of that host was not given, so which line did it cannot be told."
NOT_GIVEN_FLAGS = (
    "The engine's source of that host was not given, so the flags of its version cannot be told."
)
_SHOWN = 20  # flags of one answer
_CHOICES = 8
_HELP = 90  # characters of what a flag says of itself


def set_by_source(name: str, end: Judged) -> list[Line]:
    """Return which line of the source set a field; empty where the looks hold no source, or none of that name."""
    look = source_in(end.evidence)
    if look is None:
        return []
    try:
        with uncollected():
            ground = ground_in(end.evidence)
            answer = ground.explained().one(name) if ground else None
    except ToolsError:
        return []
    return list(of_flag(answer, look.id, set())) if answer else []


def flags_of_version(intent: Intent, end: Judged) -> Iterator[Line]:
    """Tell the flags of the installed version that a text means, or whether it has the one that is named."""
    look = source_in(end.evidence)
    ground = _ground(end)
    if look is None or ground is None:
        yield Line("text", NOT_GIVEN_FLAGS)
        return
    with uncollected():
        version, every = ground.tree.version(), flags_of(ground.tree)
    of = f"SGLang {version}" if version else "This version"
    if intent.text.startswith("--"):
        yield from _whether(intent.text.partition("=")[0], version, of, every, look.id)
        return
    found = searched(intent.text, every)
    if not found:
        yield Line("text", f"{of} has no flag about {short(intent.text)}.", (look.id,))
        return
    many = f"{len(found)} flags" if len(found) > 1 else "one flag"
    more = f", {_SHOWN} of them" if len(found) > _SHOWN else ""
    yield Line("text", f"{of} has {many} about {short(intent.text)}{more}:", (look.id,))
    yield from (Line("item", told(one)) for one in found[:_SHOWN])


def searched(text: str, flags: Sequence[Flag]) -> list[Flag]:
    """Return the flags whose names hold every word of a text; else those whose help does."""
    words = [word.rstrip("s") for word in re.findall(r"[a-z0-9]+", text.lower())]
    by_name = [one for one in flags if _holds(words, " ".join((*one.names, one.dest)))]
    return by_name or [one for one in flags if _holds(words, one.help)]


def told(flag: Flag) -> str:
    """Return a flag in a line: its names, default, choices, and the beginning of its help."""
    parts = [", ".join(flag.names)]
    if flag.default is not None:
        parts.append(f"default {flag.default}")
    if flag.choices:
        parts.append("one of " + ", ".join(map(str, flag.choices[:_CHOICES])))
    if flag.deprecated:
        parts.append("deprecated")
    first = flag.help.split(". ", 1)[0].strip()
    if first:
        parts.append(first if len(first) <= _HELP else first[: _HELP - 1] + "…")
    return " · ".join(parts)


def _whether(name: str, version: str, of: str, every: Sequence[Flag], look: str) -> Iterator[Line]:
    """Say whether a version takes a flag, in full or shortened, as argparse does."""
    exact = [one for one in every if name in one.names]
    longer = [full for one in every for full in one.names if full.startswith(name)]
    if exact:
        yield Line("text", f"{of} has it: {told(exact[0]).rstrip('.')}.", (look,))
    elif len(longer) == 1:
        yield Line("text", f"{of} takes it as short for {longer[0]}.", (look,))
    else:
        instead = removed_by(name, version)
        rest = f" It was removed: {instead}" if instead else ""
        yield Line("text", f"{of} does not know {name}: it would refuse to start.{rest}", (look,))


def _holds(words: Sequence[str], text: str) -> bool:
    return bool(words) and all(word in text.lower() for word in words)


def _ground(end: Judged) -> Ground | None:
    try:
        return ground_in(end.evidence)
    except ToolsError:
        return None
