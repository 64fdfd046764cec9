"""The installed source of an engine: which files there are, and the contents of some of them."""

from __future__ import annotations

from tools.probe import Facts


class SourceFile(Facts):
    """One file of the source: bytes (of at most 4 MiB) and their SHA-256; None where it cannot be read."""

    path: str  # below site-packages, "sglang/srt/server_args.py"
    size: int
    digest: str | None


class EngineSource(Facts):
    """What an engine's package holds, and which of its files hold which words.

    `files` is None where the asker told that it knows the `listing` (a SHA-256) already. `holding`
    and `registers` are places in the files' order; `registers` are those with a decorator that
    registers what it decorates.
    """

    root: str  # the folder that the package lies in
    version: str | None
    listing: str
    files: tuple[SourceFile, ...] | None
    holding: dict[str, tuple[int, ...]]
    registers: tuple[int, ...]
    cut: bool = False


class SourceTexts(Facts):
    """The bytes of some files of an engine's source, why others have none, and what was left out.

    `parts` says that of each file only what was followed is there, the other lines being empty.
    """

    contents: dict[str, bytes]
    parts: bool = False
    troubles: dict[str, str] = {}
    left: tuple[str, ...] = ()
