"""The sources of an installed engine: texts by path, parsed when they are first asked for."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from tools.errors import Unreadable

SOURCE_CHARS = 4 << 20  # of one file; the longest of SGLang 0.4.6 to 0.5.23 has 400 000
_REQUIRED = re.compile(r"^Requires-Dist: ([A-Za-z0-9._-]+)([^;\n]*)(;.*)?$", re.MULTILINE)
_VERSION = re.compile(r"^Version: (\S+)", re.MULTILINE)
_REGISTERS = re.compile(r"^@\w*register", re.MULTILINE)


@runtime_checkable
class Afar(Protocol):
    """Texts that lie elsewhere: they are searched there, and brought many at a time."""

    @property
    def registers(self) -> frozenset[str]:
        """Return the files with a decorator that registers what it decorates."""

    def holding(self, word: str) -> frozenset[str]:
        """Return the files that hold a word."""

    def bring(self, names: Iterable[str]) -> None:
        """Have the texts of these files at hand."""


def _going_on() -> None:
    """Nobody waits: it may take as long as it takes."""


class Tree:
    """Texts by path below site-packages ("sglang/srt/server_args.py"); nothing else is read.

    `pause` is called before each file is parsed and before each call that is followed: what it raises
    ends the following, so that whoever has no more time for it can say so.
    """

    def __init__(self, texts: Mapping[str, str], pause: Callable[[], None] = _going_on) -> None:
        self.texts = texts
        self.pause = pause
        self._parsed: dict[str, ast.Module] = {}
        # What was made of the syntax to follow it: kept, for the next launch is the same source.
        self.codes: dict[ast.AST, Any] = {}
        self.steps: dict[ast.AST, Any] = {}
        self.writing: list[str] | None = None  # the files that can write an argument
        self.called: frozenset[str] | None = None  # the names that the resolver's own files call
        self._where: dict[str, frozenset[str]] = {}
        self._folders = {path.rsplit("/", 1)[0] for path in texts if path.endswith(".py")}
        self.packages = {path.split("/", 1)[0] for path in self._folders}

    def path_of(self, module: str) -> str | None:
        """Return the file of a dotted name; None where it is not in the tree."""
        base = module.replace(".", "/")
        return next((p for p in (f"{base}.py", f"{base}/__init__.py") if p in self.texts), None)

    def holds(self, module: str) -> bool:
        """Whether a dotted name is a file of the tree, or a folder of files."""
        base = module.replace(".", "/")
        inside = f"{base}/"
        return (
            self.path_of(module) is not None
            or base in self._folders
            or any(folder.startswith(inside) for folder in self._folders)
        )

    def where(self, word: str) -> frozenset[str]:
        """Return the engine's own files that hold a word, be they at hand or not."""
        if word not in self._where:
            texts = self.texts
            held = (
                texts.holding(word)
                if isinstance(texts, Afar)
                else (path for path in texts if _own(path) and word in texts[path])
            )
            self._where[word] = frozenset(path for path in held if _own(path))
        return self._where[word]

    def bring(self, paths: Iterable[str]) -> None:
        """Have files at hand that are about to be read: one look, where they lie elsewhere."""
        if isinstance(self.texts, Afar):
            self.texts.bring(paths)

    def registers(self, path: str) -> bool:
        """Whether importing a file is a deed, as it registers what it defines."""
        if isinstance(self.texts, Afar):
            return path in self.texts.registers
        return _REGISTERS.search(self.text(path)) is not None

    def text(self, path: str) -> str:
        """Return a file's text without its byte-order mark (one of 0.4.6 to 0.5.19 has one)."""
        return self.texts[path].removeprefix("\ufeff")[:SOURCE_CHARS]

    def parsed(self, path: str) -> ast.Module:
        """Return a file's syntax tree; raise Unreadable where it is no Python."""
        if path not in self._parsed:
            self.pause()
            try:
                self._parsed[path] = ast.parse(self.text(path))
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                raise Unreadable(f"{path} is no Python that can be read: {error}") from None
        return self._parsed[path]

    def is_parsed(self, path: str) -> bool:
        """Whether a file's syntax was asked for already."""
        return path in self._parsed

    def _metadata(self, package: str) -> str:
        for path in self.texts:
            told = path.endswith((".dist-info/METADATA", ".egg-info/PKG-INFO"))
            if told and re.split(r"[-.]", path, maxsplit=1)[0].lower() == package:
                return self.texts[path]
        return ""

    def version(self, package: str = "sglang") -> str:
        """Return the version that the package's metadata states; "" where there is none."""
        found = _VERSION.search(self._metadata(package))
        return found[1] if found else ""

    def required(self, package: str = "sglang") -> dict[str, str]:
        """Return what the package needs unconditionally: name -> the version asked for."""
        return {
            found[1].lower().replace("_", "-"): found[2].strip(" ()[]")
            for found in _REQUIRED.finditer(self._metadata(package))
            if not found[3] or "extra" not in found[3]
        }


def _own(path: str) -> bool:
    return path.startswith("sglang/srt/") and path.endswith(".py")
