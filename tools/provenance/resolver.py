"""The resolver of an installed engine, followed for one launch: from its command line to its last write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

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
from tools.provenance.values import MISSING, Class, Instance, Raised, Record, Unknown, Value

MODULE = "sglang.srt.server_args"
RESOLVE = "resolve_once"  # since 0.5.19 a record is resolved when it is told to be


@dataclass(slots=True)
class Resolution:
    """What following the resolver has shown."""

    events: list[Event] = field(default_factory=list)
    asked: dict[str, Value] = field(default_factory=dict)
    resolved: dict[str, Value] = field(default_factory=dict)
    passed: frozenset[str] = frozenset()  # fields that the command line names
    refused: str | None = None  # the exception that ends the launch
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
    """Follow the resolver and return what it does."""
    machine = machine_for(tree, given)
    found = Resolution(machine=machine)
    module = machine.imports.module(MODULE)
    if module is None:
        found.refused = f"{MODULE} is not in this source"
        return found
    try:
        made = machine.call(
            machine.imports.member(module, "prepare_server_args"),
            [list(launch_words(given.argv))],
            Record(),
        )
        if isinstance(made, Instance) and made.cls.find(RESOLVE) is not MISSING:
            machine.call(machine.attribute(made, RESOLVE), [], Record())
    except Raised as error:
        found.refused = told(error.value)
    except RecursionError:
        found.refused = "its calls go too deep to be followed"
    _collect(machine, found)
    return found


def _collect(machine: Machine, found: Resolution) -> None:
    journal = machine.journal
    found.asked = dict(journal.raw)
    found.passed = frozenset(machine.passed)
    found.resolved = {name: resolved(journal, name) for name in journal.raw}
    late = fallen_back(machine, found.resolved)
    found.events = [*journal.events, *late]
    found.resolved.update({event.field: event.value for event in late})


def declared_flags(tree: Tree, given: Given | None = None) -> list[Declared]:
    """Return what the engine's own add_cli_args declares, in its order."""
    machine = machine_for(tree, given or Given())
    module = machine.imports.module(MODULE)
    if module is None:
        return []
    parser = machine.call(machine.outside.attribute("argparse.ArgumentParser"), [], Record())
    cls = machine.imports.member(module, "ServerArgs")
    if isinstance(cls, Class):
        machine.call(machine.attribute(cls, "add_cli_args"), [parser], Record())
    declared: list[Declared] = parser.attrs["declared"]
    return declared
