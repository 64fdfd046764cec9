"""Sources brought from hosts, kept on this machine by their digest, so that each travels once."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
import zlib
from pathlib import Path

BYTES = 256 << 20  # of all that is kept, packed; a version of SGLang needs 1 to 10 MB
FILE_BYTES = 64 << 20  # of one, unpacked: a damaged file cannot fill the memory
_DIGEST = re.compile(r"[0-9a-f]{64}")


class SourceCache:
    """Contents by their SHA-256. What is kept is checked when it is read; what is damaged is dropped.

    A folder that cannot be written costs time and nothing else: then all of it travels again.
    """

    def __init__(self, folder: Path | None = None, limit_bytes: int = BYTES) -> None:
        self.folder = folder or _usual()
        self._limit_bytes = limit_bytes
        self._wrote = False

    def get(self, digest: str) -> bytes | None:
        """Return the content of a digest; None where it is not kept, or not as it was."""
        path = self._path(digest)
        try:
            packed = path.read_bytes()
            data = zlib.decompressobj().decompress(packed, FILE_BYTES)
        except (OSError, zlib.error):
            return None
        if hashlib.sha256(data).hexdigest() != digest:
            self._drop(path)
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # what is used stays longest
        return data

    def put(self, data: bytes) -> str:
        """Keep a content and return its digest."""
        digest = hashlib.sha256(data).hexdigest()
        self._write(self._path(digest), zlib.compress(data, 6))
        return digest

    def noted(self, name: str) -> str:
        """Return the digest that was noted under a name, "" where there is none."""
        try:
            text = self._note(name).read_text(encoding="ascii")
        except (OSError, ValueError):
            return ""
        return text if _DIGEST.fullmatch(text) else ""

    def note(self, name: str, digest: str) -> None:
        """Note a digest under a name: which listing a host had when it was last asked."""
        self._write(self._note(name), digest.encode("ascii"))

    def tidy(self) -> None:
        """Drop what was used longest ago, until all that is kept is within the bound."""
        if not self._wrote:
            return
        self._wrote = False
        found = []
        for path in self.folder.glob("*/*"):
            with contextlib.suppress(OSError):
                told = path.stat()
                found.append((told.st_mtime, told.st_size, path))
        over = sum(size for _, size, _ in found) - self._limit_bytes
        for _, size, path in sorted(found):
            if over <= 0:
                break
            self._drop(path)
            over -= size

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / digest

    def _note(self, name: str) -> Path:
        return self.folder / "listings" / hashlib.sha256(name.encode()).hexdigest()

    def _write(self, path: Path, data: bytes) -> None:
        """Write beside it and put it in place: a reader sees all of it or nothing."""
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        except OSError:
            return
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(name).replace(path)
        except OSError:
            self._drop(Path(name))
        self._wrote = True

    @staticmethod
    def _drop(path: Path) -> None:
        with contextlib.suppress(OSError):
            path.unlink()


def _usual() -> Path:
    home = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(home) if home.startswith("/") else Path.home() / ".cache"
    return base / "perfsleuth" / "sources"
