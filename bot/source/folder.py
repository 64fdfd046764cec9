"""The source of an installed engine in a folder: its files by path, each read when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.errors import Absent

FILE_BYTES = 4 << 20  # of one source file; the rest of a longer one is not read
FILES = 20_000  # of one engine; 0.5.23 has 3 100


class SourceFolder(Mapping[str, str]):
    """A folder that holds the package `sglang`, as site-packages does, or as an unpacked wheel is."""

    def __init__(self, folder: Path, package: str = "sglang") -> None:
        self._root = _root(folder, package)
        self._names = dict.fromkeys(
            [*_sources(self._root, package), *_metadata(self._root, package)]
        )
        self._texts: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._texts:
            with (self._root / name).open("rb") as file:
                self._texts[name] = file.read(FILE_BYTES).decode("utf-8", errors="replace")
        return self._texts[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _root(folder: Path, package: str) -> Path:
    """Return the folder that the package lies in; raise Absent where it is not there."""
    for root in (folder, folder.parent, folder / "python"):
        if (root / package / "srt").is_dir():
            return root
    raise Absent(
        f"{folder} holds no {package}: name the site-packages folder it is installed in, "
        "or the folder its wheel was unpacked to"
    )


def _sources(root: Path, package: str) -> list[str]:
    found: list[str] = []
    for folder, folders, files in os.walk(root / package):
        folders[:] = sorted(name for name in folders if name not in ("test", "__pycache__"))
        inside = Path(folder).relative_to(root).as_posix()
        found += [f"{inside}/{name}" for name in sorted(files) if name.endswith(".py")]
        if len(found) > FILES:
            raise Absent(f"{root / package} holds too many files to be an engine")
    return found


def _metadata(root: Path, package: str) -> list[str]:
    folders = [*root.glob(f"{package}-*.dist-info"), *root.glob(f"{package}.egg-info")]
    names = [folder / name for folder in folders for name in ("METADATA", "PKG-INFO")]
    return [path.relative_to(root).as_posix() for path in names if path.is_file()]
