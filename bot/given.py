"""What a person names in a command: a host to ask, a case that was kept, or files of one machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.reach import parted
from bot.settings import Settings
from tools.case import Case
from tools.errors import ToolsError
from tools.evidence import Evidence, read_back
from tools.hosts.files import read_texts
from tools.hosts.files.bounded import read_bounded
from tools.hosts.local import LocalHost
from tools.probe import Probe

CASE_BYTES = 256 << 20  # of all answers of a host together
_FILES = 200  # of one folder; more are somebody's home
_EVIDENCE = "evidence"  # a folder called so holds the files of what its parent is called
# What a name that ends so means, where there is no such file: a slip, and no host.
_ENDINGS = (".json", ".log", ".txt", ".gz", ".zst", ".yaml", ".yml", ".csv", ".out")


@dataclass(frozen=True)
class Given:
    """One of them. `host` is asked, at `port` where one is told; else `looks` are there already.

    `question` is what the case was asked.
    """

    name: str
    host: str | None = None
    port: int | None = None
    looks: tuple[Evidence, ...] = ()
    question: str = ""


def given(text: str, known: Settings, probes: Mapping[str, type[Probe[Any]]]) -> Given:
    """Return what is meant: a host of hosts.toml, else what lies here, else a host that ssh knows.

    Raises ToolsError with what to do where it is none of them.
    """
    if not text.strip():
        raise ToolsError("An empty name is no host and no file.")
    name, port = parted(text)
    listed = {one.lower(): one for one in known.hosts}
    if name.lower() in listed:
        own = listed[name.lower()]
        return Given(f"{own}:{port}" if port else own, own, port)
    parts = [Path(part.strip()) for part in text.split(",") if part.strip()]
    if len(parts) > 1:
        return _files(parts, probes)
    path = Path(text)
    if path.is_dir():
        folder = path.resolve()
        name = folder.parent.name if folder.name == _EVIDENCE else folder.name
        return _files(_inside(path), probes, name=name)
    if path.exists():
        return _file(path, probes)
    if "/" in text or text.lower().endswith(_ENDINGS):
        raise ToolsError(f"{text} is no host, and there is no such file.")
    return Given(text, name, port)


def text_of(path: Path) -> str:
    """Return the text of a file; raise ToolsError with what is wrong with it."""
    found = read_bounded(path, CASE_BYTES)
    if found.note:
        raise ToolsError(f"{path} is too large or not whole. {found.note}")
    return found.data.decode("utf-8", "replace")


def _inside(folder: Path) -> list[Path]:
    files = sorted(
        one for one in folder.iterdir() if one.is_file() and not one.name.startswith(".")
    )
    if not files:
        raise ToolsError(f"{folder} holds no file: name the folder in which they lie.")
    if len(files) > _FILES:
        raise ToolsError(f"{folder} holds {len(files)} files; {_FILES} are the most: name some.")
    return files


def _files(paths: Sequence[Path], probes: Mapping[str, type[Probe[Any]]], name: str = "") -> Given:
    if len(paths) == 1:
        only = _file(paths[0], probes)
        return replace(only, name=name) if name and not only.question else only
    for path in paths:
        if not path.is_file():
            raise ToolsError(f"{path} is no file here.")
    return Given(name or _called(paths), looks=_read(paths, probes))


def _file(path: Path, probes: Mapping[str, type[Probe[Any]]]) -> Given:
    """Return a case, or a single file of raw answers."""
    text = text_of(path) if path.is_file() and _begins(path) == b"{" else ""
    if '"asked"' not in text or not _is_case(text):
        return Given(path.name, looks=_read([path], probes))
    case = Case.load(text, name=str(path))
    return Given(case.host or path.stem, looks=tuple(case.evidence(probes)), question=case.question)


def _begins(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(64).lstrip()[:1]


def _is_case(text: str) -> bool:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(told, dict) and isinstance(told.get("asked"), list)


def _read(paths: Sequence[Path], probes: Mapping[str, type[Probe[Any]]]) -> tuple[Evidence, ...]:
    return tuple(
        read_back(number, found.probe, found.source, found.output, found.trouble)
        for number, found in enumerate(read_texts(paths, probes, LocalHost()), start=1)
    )


def _called(paths: Sequence[Path]) -> str:
    more = len(paths) - 1
    return f"{paths[0].name} and {more} more"
