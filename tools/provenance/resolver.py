"""The resolver of an installed engine, followed for one launch: from its command line to its last write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tools.errors import Absent
from tools.provenance import understands  # noqa: F401 - what is understood registers itself
from tools.provenance.commandline import Declared
from tools.provenance.fallbacks import fallen_back
from tools.provenance.given import Given
from tools.provenance.hardware import machine_facts
from tools.provenance.journal import Event, resolved
from tools.provenance.machine import Machine
from tools.provenance.outside import Outside
from tools.provenance.raising import told
from tools.provenance.tree import Tree
from tools.provenance.values import (
    MISSING,
    Class,
    Instance,
    Place,
    Raised,
    Record,
    Unknown,
    Value,
)

MODULE = "sglang.srt.server_args"
OUTLIVED = 3  # raises that a running server may have passed; more, and the facts are another's
RESOLVE = "resolve_once"  # since 0.5.19 a record is resolved when it is told to be


@dataclass(slots=True)
class Resolution:
    """What following the resolver has shown."""

    events: list[Event] = field(default_factory=list)
    asked: dict[str, Value] = field(default_factory=dict)
    resolved: dict[str, Value] = field(default_factory=dict)
    passed: frozenset[str] = frozenset()  # fields that the command line names
    refused: str | None = None  # the exception that ends the launch
    outlived: dict[Place, str] = field(
        default_factory=dict
    )  # those that did not, as the server runs
    machine: Any = None


def machine_for(tree: Tree, given: Given) -> Machine:
    """Return a machine that knows the facts of a launch."""
    packages = tree.required()
    facts = machine_facts(given, packages)
    argv = launch_words(given.argv)
    path = _model_path(argv)
    facts["model configs"] = {path: given.model_config} if path and given.model_config else {}
    facts["files"] = _file_question(argv)
    return Machine(tree, Outside(facts, packages))


def launch_words(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Return the flags of a command line: what is before them is the program; a model is asked for."""
    first = next((i for i, word in enumerate(argv) if word.startswith("-")), len(argv))
    words = argv[first:]
    if words[:1] == ("-m",):
        return launch_words(words[2:])
    served = argv[:first][-1:] if "serve" in argv[: max(first - 1, 0)] else ()
    if _model_path(words) is None:
        words = ("--model-path", *(served or ("model",)), *words)
    return words


def _model_path(argv: tuple[str, ...]) -> str | None:
    for position, word in enumerate(argv):
        name, _, value = word.partition("=")
        if name in ("--model-path", "--model"):
            return value or next(iter(argv[position + 1 : position + 2]), None)
    return None


def _file_question(argv: tuple[str, ...]) -> Any:
    """Answer whether a file is there: local folders of the command line are, with a config.json; others not."""
    words = [word.partition("=")[2] or word for word in argv]
    folders = {word.rstrip("/") for word in words if word.startswith(("/", "./", "~"))}

    def there(kind: str, path: Value) -> Value:
        text = path.attrs.get("path") if isinstance(path, Instance) else path
        if not isinstance(text, str):
            return Unknown(("whether a file is there",))
        folder = kind != "file" and text.rstrip("/") in folders
        return folder or (kind != "folder" and text in {f"{each}/config.json" for each in folders})

    return there


def follow(tree: Tree, given: Given) -> Resolution:
    """Follow the resolver and return what it does.

    Where a server says what it runs with, its resolver came to its end: a raise that the facts at
    hand lead to did not happen, for a reason that is not among them. It is passed over and noted.
    """
    outlived: dict[Place, str] = {}
    while True:
        found, ended = _followed(tree, given, outlived)
        if ended is None or not given.resolved or len(outlived) >= OUTLIVED:
            return found
        outlived[ended] = found.refused or ""


def _followed(
    tree: Tree, given: Given, outlived: dict[Place, str]
) -> tuple[Resolution, Place | None]:
    """Follow the resolver once; the statement that ended it is returned beside what it did."""
    machine = machine_for(tree, given)
    machine.outlived = frozenset(outlived)
    found, ended = Resolution(machine=machine, outlived=dict(outlived)), None
    module = machine.imports.module(MODULE)
    if module is None:
        found.refused = f"{MODULE} is not in this source"
        return found, None
    try:
        made = machine.call(
            machine.imports.member(module, "prepare_server_args"),
            [list(launch_words(given.argv))],
            Record(),
        )
        if isinstance(made, Instance) and made.cls.find(RESOLVE) is not MISSING:
            machine.call(machine.attribute(made, RESOLVE), [], Record())
    except Raised as error:
        found.refused, ended = told(error.value), error.place
    except RecursionError:
        found.refused = "its calls go too deep to be followed"
    _collect(machine, found)
    return found, ended


def _collect(machine: Machine, found: Resolution) -> None:
    journal = machine.journal
    found.asked = dict(journal.raw)
    found.passed = frozenset(machine.passed)
    found.resolved = {name: resolved(journal, name) for name in journal.raw}
    late = fallen_back(machine, found.resolved)
    found.events = [*journal.events, *late]
    found.resolved.update({event.field: event.value for event in late})


def declared_flags(tree: Tree, given: Given | None = None) -> list[Declared]:
    """Return what the engine's own add_cli_args declares, in its order; raise Absent where it cannot be followed."""
    machine = machine_for(tree, given or Given())
    module = machine.imports.module(MODULE)
    if module is None:
        return []
    parser = machine.call(machine.outside.attribute("argparse.ArgumentParser"), [], Record())
    cls = machine.imports.member(module, "ServerArgs")
    try:
        if isinstance(cls, Class):
            machine.call(machine.attribute(cls, "add_cli_args"), [parser], Record())
    except Raised as error:
        raise Absent(f"the flags of this source cannot be read: {told(error.value)}") from None
    declared: list[Declared] = parser.attrs["declared"]
    return declared
