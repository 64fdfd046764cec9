"""pathlib and os.path as a resolver uses them: names are joined, files are asked of the facts."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tools.provenance.language import plain
from tools.provenance.understood import known
from tools.provenance.values import (
    Class,
    Instance,
    Native,
    Record,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from tools.provenance.machine import Machine


_PATH = Class("Path", (), {}, "Path")


@known("pathlib.Path", "pathlib.PurePath")
def _path(_machine: Machine, args: list[Value], _named: Record) -> Value:
    parts = [
        a.attrs["path"] if isinstance(a, Instance) and a.cls is _PATH else plain(a) for a in args
    ]
    if any(not isinstance(part, str) for part in parts):
        return Unknown(("a path",))
    return path_object(posixpath.join(*parts) if parts else ".")


def path_object(text: str) -> Instance:
    """Return a pathlib.Path."""
    made = Instance(_PATH)
    made.attrs.update(
        path=text, name=posixpath.basename(text), suffix=posixpath.splitext(text)[1],
        stem=posixpath.splitext(posixpath.basename(text))[0],
    )  # fmt: skip
    return made


def _of_path(name: str) -> Callable[[Any], Any]:
    def register(function: Callable[[Machine, str, list[Value]], Value]) -> Any:
        def call(machine: Machine, args: list[Value], _named: Record) -> Value:
            return function(machine, args[0].attrs["path"], args[1:])

        _PATH.attrs[name] = Native(f"Path.{name}", call, lenient=True)
        return function

    return register


for _name, _kind in {"exists": "any", "is_file": "file", "is_dir": "folder"}.items():
    _of_path(_name)(
        lambda machine, path, _args, kind=_kind: machine.outside.facts["files"](kind, path)
    )


@_of_path("__truediv__")
def _joined(_machine: Machine, path: str, args: list[Value]) -> Value:
    return (
        path_object(posixpath.join(path, args[0]))
        if isinstance(args[0], str)
        else Unknown(("a path",))
    )


for _name in ("expanduser", "resolve", "absolute"):
    _of_path(_name)(lambda _machine, path, _args: path_object(path))
_of_path("joinpath")(_joined)
for _name in ("glob", "rglob", "iterdir"):
    _of_path(_name)(lambda _machine, _path, _args: Unknown(("the files there",)))
