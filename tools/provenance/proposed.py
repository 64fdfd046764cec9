"""A proposed change of flags, held against those of the installed version: its words, or what is wrong."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tools.knowledge.fields import Field, sglang_fields
from tools.knowledge.traps import removed_by
from tools.provenance.flags import Flag

Kind = Literal["unknown", "removed", "too new", "choice", "type", "conflict", "deprecated"]
NEAR = 3  # names that are offered for one that does not exist
_NEAR_ENOUGH = 0.75  # of difflib; at its own 0.6 every flag that ends in -size is near every other


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with one flag of a proposal; "deprecated" is a warning, all others refuse it."""

    flag: str
    kind: Kind
    text: str

    @property
    def refuses(self) -> bool:
        """Whether the engine would not start with it."""
        return self.kind != "deprecated"


@dataclass(slots=True)
class Proposal:
    """Words to add to a command line, flags whose words must go first, and what is wrong with them."""

    words: tuple[str, ...] = ()
    gone: list[Flag] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)

    @property
    def fits(self) -> bool:
        """Whether the installed version takes it."""
        return not any(trouble.refuses for trouble in self.troubles)


def proposed(
    flags: Sequence[Flag],
    sets: Mapping[str, Any],
    unsets: Iterable[str] = (),
    version: str = "",
) -> Proposal:
    """Hold a change against a version's flags: fields or flags to set, and those to leave to the engine.

    `flags` are those of flags_of(tree), `version` is tree.version(). A switch is set with True or False, a
    flag of several values with a list; None is no value. Nothing is raised: see `troubles`.
    """
    found = Proposal()
    words: list[str] = []
    filled: dict[str, str] = {}
    left: set[str] = set()
    for name in unsets:
        flag = _named(flags, name, version, found)
        if flag is not None:
            left.add(flag.dest)
            found.gone += [each for each in flags if each.dest == flag.dest]
    for name, value in sets.items():
        flag = _named(flags, name, version, found)
        if flag is None:
            continue
        if flag.dest in filled:
            _refuse(
                found,
                flag,
                "conflict",
                f"{flag.names[0]} and {filled[flag.dest]} fill the same field",
            )
        filled[flag.dest] = flag.names[0]
        if flag.dest in left:
            _refuse(
                found,
                flag,
                "conflict",
                f"{flag.names[0]} cannot be set and left to the engine at once",
            )
        if flag.deprecated:
            instead = f"; the source says to use {flag.instead}" if flag.instead else ""
            _refuse(found, flag, "deprecated", f"{flag.names[0]} is deprecated{instead}")
        words += _words(flag, name, value, found)
        found.gone += [each for each in flags if each.dest == flag.dest and each not in found.gone]
    found.words = tuple(words) if found.fits else ()
    return found


def applied(argv: Sequence[str], flags: Sequence[Flag], proposal: Proposal) -> tuple[str, ...]:
    """Return a command line with a proposal's words in place of all that set those flags before.

    Abbreviations and `--x=y` are seen as argparse sees them; what is before the first flag stays.
    """
    kept: list[str] = []
    gone = {name for flag in proposal.gone for name in flag.names}
    position = 0
    while position < len(argv):
        word = argv[position]
        name, equals, _ = word.partition("=")
        flag = _abbreviated(flags, name) if word.startswith("--") else None
        taken = 1 if flag is None or equals else 1 + _taken(flag, argv[position + 1 :])
        if flag is None or not gone.intersection(flag.names):
            kept += argv[position : position + taken]
        position += taken
    return (*kept, *proposal.words)


def _taken(flag: Flag, after: Sequence[str]) -> int:
    if flag.takes == "nothing" or not after:
        return 0
    if flag.takes == "a value":
        return 1
    ends = (at for at, word in enumerate(after) if word.startswith("--"))
    return next(ends, len(after))


def _abbreviated(flags: Sequence[Flag], name: str) -> Flag | None:
    exact = next((flag for flag in flags if name in flag.names), None)
    begun = [f for f in flags if any(n.startswith(name) for n in f.names)]
    return exact or (begun[0] if len(begun) == 1 else None)


def _named(flags: Sequence[Flag], name: str, version: str, found: Proposal) -> Flag | None:
    """Return the flag that is meant: by its name, or by the field where only one flag fills it."""
    wanted = "--" + name.lstrip("-").replace("_", "-")
    exact = next((flag for flag in flags if wanted in flag.names), None)
    if exact is not None:
        return exact
    filling = [
        f for f in flags if f.dest == name.lstrip("-").replace("-", "_") and not f.deprecated
    ]
    if len(filling) == 1:
        return filling[0]
    found.troubles.append(_absent(flags, wanted, version))
    return None


def _absent(flags: Sequence[Flag], wanted: str, version: str) -> Trouble:
    told = version or "this version"
    instead = removed_by(wanted, version)
    if instead is not None:
        return Trouble(wanted, "removed", f"{wanted} is gone from {told}: {instead}")
    known = sglang_fields().get(wanted[2:].replace("-", "_"))
    if known is not None and version and known.kind != "d":
        return _of_another(known, wanted, version)
    names = [name for flag in flags for name in flag.names]
    near = difflib.get_close_matches(wanted, names, NEAR, _NEAR_ENOUGH)
    near += [name for name in names if name.startswith(wanted) and name not in near][:NEAR]
    offer = f"; near it are {', '.join(near[:NEAR])}" if near else ""
    return Trouble(wanted, "unknown", f"{told} has no flag {wanted}{offer}")


def _of_another(known: Field, wanted: str, version: str) -> Trouble:
    if _order(version) < _order(known.first):
        return Trouble(
            wanted, "too new", f"{wanted} came with {known.first}; {version} does not have it"
        )
    return Trouble(
        wanted, "removed", f"{wanted} was last in {known.last}; {version} no longer has it"
    )


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:3] if part.isdigit())


def _words(flag: Flag, name: str, value: Any, found: Proposal) -> list[str]:
    """Return the words that set a flag in this version's spelling."""
    plus = next(
        (n for n in flag.names if n == "--" + name.lstrip("-").replace("_", "-")), flag.names[0]
    )
    if flag.takes == "nothing":
        return _switched(flag, plus, value, found)
    given = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(given) != 1 and flag.takes == "a value":
        _refuse(found, flag, "type", f"{plus} takes one value, not {len(given)}")
    for each in given:
        _check(flag, plus, each, found)
    return [plus, *(_word(each) for each in given)]


def _switched(flag: Flag, plus: str, value: Any, found: Proposal) -> list[str]:
    if not isinstance(value, bool):
        _refuse(found, flag, "type", f"{plus} takes no value: it is given, or not")
        return []
    minus = [name for name in flag.names if name.startswith("--no-")]
    if minus and not plus.startswith("--no-"):
        return [plus] if value else [minus[0]]
    return [plus] if value else []


def _check(flag: Flag, plus: str, value: Any, found: Proposal) -> None:
    if value is None or isinstance(value, bool):
        _refuse(found, flag, "type", f"{plus} takes a value, not {value}")
    elif flag.type in ("int", "float") and not _numeric(flag.type, value):
        _refuse(
            found,
            flag,
            "type",
            f"{plus} takes {'a whole number' if flag.type == 'int' else 'a number'}, not {value}",
        )
    elif flag.choices and str(value) not in map(str, flag.choices):
        offered = ", ".join(map(str, flag.choices))
        _refuse(found, flag, "choice", f"{plus} cannot be {value}; it is one of {offered}")


def _numeric(kind: str, value: Any) -> bool:
    try:
        number = float(value) if kind == "float" else int(str(value))
    except (TypeError, ValueError):
        return False
    return number == number  # nan is no setting


def _word(value: Any) -> str:
    return json.dumps(value) if isinstance(value, dict) else str(value)


def _refuse(found: Proposal, flag: Flag, kind: Kind, text: str) -> None:
    found.troubles.append(Trouble(flag.names[0], kind, text))
